#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# CONNECT, absolute form and SOCKS5 for programs that use a proxy: the same rules apply.

load helper
setup() {
    start_egress_test
    filtered
    is_connected
}
teardown() { end_egress_test; }

PROXY=198.18.0.1

@test "CONNECT and absolute form reach the permitted name" {
    says "good.example here" in_jail curl -sS --max-time 30 --proxy http://$PROXY:3128 https://good.example/
    says "good.example here" in_jail curl -sS --max-time 30 --proxy http://$PROXY:3128 http://good.example/
    says "good.example here" in_jail curl -sS --max-time 30 --proxytunnel --proxy http://$PROXY:3128 http://good.example/
    says "good.example here" in_jail curl -sS --max-time 30 --proxy "http://[fd61:6765:6e74::1]:3128" http://good.example/
}

@test "CONNECT to a forbidden name, an address or below the floor: 403 with the reason" {
    local target
    for target in evil.example:443 203.0.113.66:443 "[2001:db8:66::66]:443" 127.0.0.1:8001 "[::1]:8001" 169.254.169.254:80 10.1.2.3:80 mail.example:25 \
        2130706433:8001 0x7f.1:8001 "[::ffff:127.0.0.1]:8001" good.example:853 host.example:8002; do
        works in_jail python3 talk.py $PROXY 3128 "CONNECT $target HTTP/1.1\r\nHost: $target\r\n\r\n"
        [[ $output == "HTTP/1.1 4"* && $output == *'"reason"'* ]] || report "should be refused: $target"
    done
    run in_jail curl -sS --max-time 30 --proxy http://$PROXY:3128 http://evil.example/
    [[ $output != *here* ]]
}

@test "TLS and HTTP inside CONNECT are checked as outside it" {
    log_mark
    works outside python3 talk.py good.example 80 --wait 1 'GET /smuggled HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'
    seen web /smuggled
    log_mark
    run in_jail python3 talk.py $PROXY 3128 --wait 1 --then 'GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n' \
        'CONNECT good.example:80 HTTP/1.1\r\nHost: good.example:80\r\n\r\n'
    [[ $output == *" 200 "* ]]
    unseen web /smuggled
    run in_jail python3 talk.py $PROXY 3128 --wait 1 'GET http://good.example/smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n'
    run in_jail python3 talk.py $PROXY 3128 --wait 1 'GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\nGET http://evil.example/smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n'
    unseen web /smuggled
    unseen web "|evil.example|"
}

@test "CONNECT with CR, LF, NUL or other bytes in the name is refused" {
    local target
    log_mark
    for target in 'good.example\r\nX: evil.example:80' 'evil.example\x00.good.example:80' 'good.example\n:80' 'good.example:80\x00' 'good.example@evil.example:80' \
        'evil.example#good.example:80' 'good.example:80:80' 'good.example:99999' 'good.example:-80' 'good.example:0' 'good.example' ':80' 'evil.example.:80' 'EVIL.EXAMPLE:80'; do
        run in_jail python3 talk.py $PROXY 3128 --wait 1 --then 'GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n' "CONNECT $target HTTP/1.1\r\nHost: good.example\r\n\r\n"
        [[ $output != *" 200 "* ]] || leak "should be refused: $target"
    done
    unseen web /smuggled
    unseen web "|evil.example|"
}

@test "SOCKS5 by name and by address" {
    says "good.example here" in_jail curl -sS --max-time 30 --socks5-hostname $PROXY:1080 https://good.example/
    # curl looks the name up first: the synthetic address leads back to the name.
    says "good.example here" in_jail curl -sS --max-time 30 --socks5 $PROXY:1080 https://good.example/
    run in_jail curl -sS --max-time 30 --socks5-hostname $PROXY:1080 https://evil.example/
    ((status == 97)) || report "should be refused by SOCKS"
    run in_jail curl -sS --max-time 30 --socks5 $PROXY:1080 http://203.0.113.66/
    ((status == 97)) || report "should be refused by SOCKS"
}

@test "SOCKS5: addresses below the floor, broken names, BIND and UDP are refused" {
    local target
    for target in 127.0.0.1 169.254.169.254 10.1.2.3 203.0.113.66 192.0.2.2 0.0.0.0; do
        fails "reply 2" in_jail python3 socks.py connect v4 $target 80
    done
    for target in ::1 ::ffff:127.0.0.1 64:ff9b::a9fe:a9fe 2001:db8:66::66 fd00:ec2::254 ::; do
        fails "reply 2" in_jail python3 socks.py connect v6 $target 80
    done
    log_mark
    for target in 'evil.example' 'good.example\x00.evil.example' 'evil.example\x00' 'evil.example\r\n' '127.0.0.1' '2130706433' '127.1' '::1' ''; do
        run in_jail python3 socks.py connect name "$target" 80 'GET /smuggled HTTP/1.0\r\n\r\n'
        [[ $output != *"reply 0"* ]] || leak "should be refused: $target"
    done
    unseen web /smuggled
    fails "reply 7" in_jail python3 socks.py bind v4 203.0.113.10 80
    fails "reply 7" in_jail python3 socks.py udp v4 0.0.0.0 0
}

@test "the gateway's address answers nothing else" {
    says "a service of the host" outside curl -sS --max-time 30 http://127.0.0.1:8001/
    run in_jail python3 talk.py $PROXY 8001 --wait 1 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
    [[ $output != *"a service of the host"* ]]
    run in_jail curl -sS --max-time 30 http://host.agent-sandbox.internal:8001/
    [[ $output != *"a service of the host"* ]]
    run in_jail curl -sS --max-time 30 http://198.18.0.3:8001/
    [[ $output != *"a service of the host"* ]]
}
