#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every spelling of an address that the jail must not reach. Outside, each of them answers.

load helper
setup() { start_egress_test; }
teardown() { end_egress_test; }

# answers_outside_only TEXT PORT SPELLING...
answers_outside_only() {
    local text=$1 port=$2 spelling
    shift 2
    is_connected
    for spelling; do
        says "$text" outside curl -gsS --fail --max-time 30 "http://$spelling:$port/"
        run in_jail curl -gsS --fail --max-time 30 "http://$spelling:$port/"
        [[ $output != *"$text"* ]] || leak "should not lead there: $spelling"
        ((status != 28)) || report "should not wait: $spelling"
        run in_jail curl -gsS --fail --max-time 30 --proxy http://198.18.0.1:3128 "http://$spelling:$port/"
        [[ $output != *"$text"* ]] || leak "should not lead there through the proxy: $spelling"
        run in_jail curl -gsS --fail --max-time 30 --socks5-hostname 198.18.0.1:1080 "http://$spelling:$port/"
        [[ $output != *"$text"* ]] || leak "should not lead there through SOCKS: $spelling"
    done
}

@test "the host's loopback can't be reached" {
    JAIL=(--network filtered --allow-host 127.0.0.0/8 --allow-host ::1)
    run as_user "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- true
    ((status == 0)) || filtered
    answers_outside_only "a service of the host" 8001 127.0.0.1 localhost 2130706433 017700000001 0x7f000001 0x7f.1 127.1 0177.0.0.1 0 0.0.0.0 \
        "[::1]" "[::ffff:127.0.0.1]" "[::ffff:7f00:1]" "[0:0:0:0:0:0:0:1]"
}

@test "the host's other loopback addresses and its own address can't be reached" {
    filtered
    answers_outside_only "a service of the host" 8002 127.9.9.9 192.0.2.2 3221225986 "[2001:db8:1::2]" "[::ffff:192.0.2.2]"
}

@test "metadata services can't be reached" {
    filtered
    answers_outside_only "here" 80 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 "[::ffff:169.254.169.254]" \
        "[::ffff:a9fe:a9fe]" "[64:ff9b::a9fe:a9fe]" "[2002:a9fe:a9fe::1]" "[fd00:ec2::254]" 100.100.100.200
}

@test "private networks can't be reached" {
    filtered
    answers_outside_only "here" 80 10.1.2.3 167838211 0xa010203 10.66051 172.16.9.9 192.168.1.1 0300.0250.1.1 100.64.0.9 "[::ffff:10.1.2.3]" "[fd12:3456::9]"
}

@test "public addresses without a name are refused" {
    filtered
    answers_outside_only "here" 80 203.0.113.66 198.51.100.7 3405803842 "[2001:db8:66::66]" "[2001:db8:51::7]" "[::ffff:203.0.113.66]"
}

@test "addresses below the floor stay closed when addresses are open" {
    user_says '[network]' 'literals = "allow"'
    JAIL=(--network filtered)
    says "198.51.100.7 here" in_jail curl -sS --max-time 30 http://198.51.100.7/
    answers_outside_only "here" 80 169.254.169.254 10.1.2.3 "[::ffff:10.1.2.3]" "[64:ff9b::a9fe:a9fe]" "[2002:a9fe:a9fe::1]"
    answers_outside_only "a service of the host" 8002 192.0.2.2 "[2001:db8:1::2]" 127.0.0.1 "[::ffff:127.0.0.1]"
}

@test "a permitted name does not permit its literal address" {
    proxied
    answers_outside_only "here" 80 203.0.113.10 "[2001:db8:10::10]"
}
