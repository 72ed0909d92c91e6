# SPDX-License-Identifier: MIT
# Links and addresses of the small internet. Sourced by tests/internet/run.

# The addresses of the world. The first of each family is the router's own.
WORLD_ADDRESSES=(
    203.0.113.10 2001:db8:10::10        # good.example and most others
    203.0.113.66 2001:db8:66::66        # evil.example
    203.0.113.20 2001:db8:10::20        # db.example
    203.0.113.22 2001:db8:10::22        # ssh.example
    203.0.113.53 203.0.113.54           # name servers
    203.0.113.80                        # the site's proxy
    198.51.100.7 2001:db8:51::7         # addresses without a name
    8.8.8.8                             # a public resolver
    10.1.2.3 10.20.0.5 172.16.9.9 192.168.1.1 100.64.0.9 fd12:3456::9
    169.254.169.254 100.100.100.200 fd00:ec2::254
    64:ff9b::a9fe:a9fe 64:ff9b::7f00:1 2002:a9fe:a9fe::1 2002:7f00:1::1 2001:0:7f00:1::1
)

in_world() { nsenter --net=/run/netns/world -- "$@"; }

make_network() {
    local address
    ip netns add world
    ip link set lo up
    ip link add host0 type veth peer name world0 netns world
    sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.accept_dad=0 net.ipv4.ping_group_range="0 2147483647"
    ip link set host0 up
    ip addr add 192.0.2.2/24 dev host0
    ip -6 addr add 2001:db8:1::2/64 dev host0 nodad
    in_world sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv4.ip_unprivileged_port_start=0 net.core.somaxconn=8192
    in_world ip link set lo up
    in_world ip link set world0 up
    in_world ip addr add 192.0.2.1/24 dev world0
    in_world ip -6 addr add 2001:db8:1::1/64 dev world0 nodad
    for address in "${WORLD_ADDRESSES[@]}"; do
        case $address in
            *:*) in_world ip -6 addr add "$address/128" dev lo nodad ;;
            *) in_world ip addr add "$address/32" dev lo ;;
        esac
    done
    ip route add default via 192.0.2.1
    ip -6 route add default via 2001:db8:1::1
    # Many short connections in a row must not run out of ports.
    sysctl -qw net.ipv4.tcp_tw_reuse=1 net.ipv4.ip_local_port_range="10000 65000" 2>/dev/null
    rm -f /etc/resolv.conf
    printf 'nameserver 203.0.113.53\n' >/etc/resolv.conf
    printf '%s\n' '127.0.0.1 localhost' '::1 localhost ip6-localhost' '203.0.113.10 in-hosts-file.example' >/etc/hosts
    printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >/etc/nsswitch.conf
}
