#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ways around the gateway: other sockets, changes to the jail's own network, more namespaces, sockets of the host.

load helper
setup() {
    start_egress_test
    filtered
    is_connected
}
teardown() { end_egress_test; }

# After an attempt, the permitted host is still reachable and the forbidden ones are still closed.
still_in_force() {
    [[ $output != *"evil.example here"* && $output != *"203.0.113.66 here"* ]] || leak "a connection got through"
    [[ $output == *"AFTER: good.example here"* ]] || report "the network should be as before"
}
AFTER='echo "AFTER: $(curl -sS --max-time 30 http://good.example/)"; curl -sS --max-time 30 http://evil.example/; curl -sS --max-time 30 http://203.0.113.66/; true'

@test "UDP reaches no address or name" {
    local target
    for target in "203.0.113.10 7" "203.0.113.10 123" "198.51.100.7 9000" "2001:db8:10::10 7" "echo.example 7" "10.1.2.3 7"; do
        only_outside "echo of hello" python3 sockets.py udp $target
    done
    only_outside "echo of hello" python3 sockets.py udp_unconnected 203.0.113.10 7
    log_mark
    run in_jail python3 sockets.py udp 203.0.113.10 9000
    unseen world "udp 9000"
}

@test "ping gets no answer" {
    says "1 received" outside ping -c 1 -W 2 203.0.113.66
    run in_jail ping -c 1 -W 2 203.0.113.66
    [[ $output != *"1 received"* ]] || leak "should not be answered"
}

@test "raw, packet, vsock and transparent sockets and socket marks are refused" {
    works python3 sockets.py raw
    works python3 sockets.py packet
    works python3 sockets.py transparent
    works python3 sockets.py mark
    run in_jail python3 sockets.py raw && ((status != 0))
    run in_jail python3 sockets.py packet && ((status != 0))
    run in_jail python3 sockets.py transparent && ((status != 0))
    run in_jail python3 sockets.py mark && ((status != 0))
    # Not every kernel supports vsock.
    run in_jail python3 sockets.py vsock && ((status != 0))
}

@test "a TCP Fast Open request does not avoid the gateway's rules" {
    says "evil.example here" outside python3 sockets.py fastopen 203.0.113.66 80
    run in_jail python3 sockets.py fastopen 203.0.113.66 80
    [[ $output != *"evil.example here"* ]]
}

@test "the jail's own network can't be changed" {
    local change
    # Root of a new namespace can make each of these changes.
    works unshare --net sh -c 'ip link set lo up && ip link add one type veth peer name two && ip route add 203.0.113.0/24 dev lo && ip addr add 203.0.113.66/32 dev lo && ip rule add table 7 && ip link set lo down'
    for change in "ip link set lo down" "ip link add one type veth peer name two" "ip route del local default" "ip route add 203.0.113.66/32 dev lo" \
        "ip route flush table all" "ip -6 route flush table all" "ip rule add from all table 7" "ip rule del pref 0" "ip rule flush" "ip addr add 203.0.113.66/32 dev lo" \
        "ip addr flush dev lo" "nft flush ruleset" "nft add table inet mine" "sysctl -w net.ipv4.ip_forward=1" "ip neigh flush all" "ip netns add other"; do
        run in_jail_sh "$change && echo CHANGED; $AFTER"
        still_in_force
        [[ $output != *CHANGED* || $change == *flush* ]] || leak "should not be possible: $change"
    done
}

@test "a user namespace of the jail's own, and another in it, give no power over the network" {
    local nest
    for nest in "unshare --user --map-root-user" "unshare --user --map-root-user unshare --user --map-root-user" \
        "unshare --user --map-root-user --net" "unshare --user --map-root-user --mount --net unshare --user --map-root-user --net"; do
        run in_jail_sh "$nest sh -c 'nft flush ruleset; ip route flush table all; ip link set lo down; curl -sS --max-time 3 http://evil.example/; curl -sS --max-time 3 http://203.0.113.66/'; $AFTER"
        still_in_force
    done
    works outside unshare --user --map-root-user --net ip link set lo up
}

@test "the network of another process can't be entered" {
    # Root can enter the network namespace.
    says "203.0.113.66 here" nsenter --net=/proc/self/ns/net curl -sS --max-time 2 http://203.0.113.66/
    run in_jail_sh 'for process in /proc/[0-9]*; do nsenter --net="$process/ns/net" curl -sS --max-time 2 http://203.0.113.66/; done; true'
    [[ $output != *"203.0.113.66 here"* ]]
}

@test "no abstract, file or loopback socket of the host can be reached" {
    says "a service of the host" outside python3 sockets.py abstract agent-sandbox-host-service
    run in_jail python3 sockets.py abstract agent-sandbox-host-service
    [[ $output != *"a service of the host"* ]]
    only_outside "a service of the host" python3 sockets.py path /tmp/agent-sandbox-host-service.sock
    only_outside "a service of the host" curl -sS --max-time 30 http://127.0.0.1:8001/
    only_outside "a service of the host" curl -sS --max-time 30 "http://[::1]:8001/"
}

@test "the jail's own loopback works, and is its own" {
    says "inside only" in_jail_sh 'mkdir www && echo inside only >www/index.html && cd www && python3 -m http.server --bind 127.0.0.1 8001 >/dev/null 2>&1 &
        for try in $(seq 500); do curl -sS --max-time 30 http://127.0.0.1:8001/ 2>/dev/null && break; sleep 0.1; done; kill %1'
    says "inside only" in_jail_sh 'cd www && python3 -m http.server --bind ::1 8001 >/dev/null 2>&1 &
        for try in $(seq 500); do curl -sS --max-time 30 "http://[::1]:8001/" 2>/dev/null && break; sleep 0.1; done; kill %1'
}

@test "isolated: no host, name or proxy can be reached" {
    JAIL=(--network isolated --allow-host good.example)
    only_outside "good.example here" curl -sS --max-time 30 https://good.example/
    only_outside "203.0.113.10" dig +short +time=1 +tries=1 good.example
    run in_jail curl -sS --max-time 30 --proxy http://198.18.0.1:3128 http://good.example/
    ((status == 7)) || report "should find no proxy"
}
