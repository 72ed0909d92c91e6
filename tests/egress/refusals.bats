#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A refusal comes at once and gives the reason, in the client's protocol.

load helper
setup() { start_egress_test; }
teardown() { end_egress_test; }

# The time of the request itself, without the start of the jail: at most 50 ms in the best of twenty attempts, because the machine
# may be busy.
quick() { # COMMAND that prints "after N ms" at the end of a line, or curl's seconds as "time=…"
    local try best=100000 value
    for try in {1..20}; do
        run in_jail "$@"
        value=$(sed -nE 's/.* after ([0-9]+) ms$/\1/p; s/.*time=([0-9]+)\.([0-9]{3}).*/\1\2/p' <<<"$output" | tail -n 1)
        [[ -n $value ]] || report "no time was printed: $*"
        ((10#$value >= best)) || best=$((10#$value))
        ((best > 50)) || return 0
    done
    report "took $best ms: $*"
}
TIMED=(curl -sS --max-time 30 -w '\ntime=%{time_total}\n')

@test "HTTP: a 403 body names the rule and the reason, and advises against another attempt" {
    JAIL=(--network proxied --allow-host good.example:443)
    says "good.example here" outside curl -sS http://good.example/
    works in_jail curl -sS --max-time 30 -i http://good.example/
    [[ $output == *"HTTP/1.1 403"* ]]
    [[ $output == *'"do_not_retry":true'* || $output == *'"do_not_retry": true'* ]]
    [[ $output == *'"reason":'* ]]
    quick "${TIMED[@]}" http://good.example/
}

@test "HTTP to an address without a name: a 403 body reports that addresses are closed" {
    filtered
    says "203.0.113.66 here" outside curl -sS http://203.0.113.66/
    works in_jail curl -sS --max-time 30 -i http://203.0.113.66/
    [[ $output == *"HTTP/1.1 403"* && $output == *'"reason":'* ]]
    quick "${TIMED[@]}" http://203.0.113.66/
    quick "${TIMED[@]}" "http://[2001:db8:66::66]/"
}

@test "TLS: a refusal is an alert" {
    filtered
    says "203.0.113.66 here" outside curl -sS https://203.0.113.66/
    run in_jail curl -sS --max-time 30 https://203.0.113.66/
    ((status == 35)) && [[ $output == *alert* ]] || report "should end with a TLS alert"
    quick "${TIMED[@]}" https://203.0.113.66/
}

@test "ssh: a refusal is a disconnect with the reason" {
    filtered
    says "over ssh" outside bash programs.sh ssh 203.0.113.66
    run in_jail bash programs.sh ssh 203.0.113.66
    ((status != 0)) && [[ $output == *"Received disconnect from"*":"* ]] || report "should be disconnected in ssh's words"
    quick python3 talk.py 203.0.113.66 22 "SSH-2.0-test\r\n"
}

@test "SMTP: 554 on every mail port, an alert where mail begins with TLS, and nothing is delivered" {
    local port
    filtered
    log_mark
    for port in 25 465 587 2525; do
        says "220 sink" outside python3 talk.py mail.example $port --wait 1 "EHLO outside\r\n"
        works in_jail python3 talk.py mail.example $port --wait 2 "EHLO inside\r\nMAIL FROM:<a@b.c>\r\nQUIT\r\n"
        [[ $output == *"554"* || $port == 465 ]] || report "should be told on port $port"
        [[ $output != *"220 sink"* && $output != *250* && $output != *"open after"* ]] || leak "port $port"
    done
    run in_jail curl -sS --max-time 30 smtps://mail.example/
    ((status == 35)) && [[ $output == *alert* ]] || report "should end with a TLS alert"
    seen world "EHLO outside"
    unseen world "EHLO inside"
    quick python3 talk.py mail.example 25 "QUIT\r\n"
}

@test "the port floor is closed for permitted names too" {
    local port
    JAIL=(--network filtered --allow-host good.example)
    is_connected
    for port in 23 24 79 113 512 513 514 853; do
        says "port $port is open" outside python3 talk.py good.example $port --wait 1
        run in_jail python3 talk.py good.example $port --wait 2 "hello\r\n"
        [[ $output != *"is open"* ]] || leak "port $port"
    done
    everywhere "port 9000 is open" python3 talk.py good.example 9000 --wait 1
}

@test "names: a refusal is REFUSED with an extended error" {
    filtered
    says "203.0.113.66" outside dig +short evil.example
    works in_jail dig +time=15 +tries=1 evil.example
    [[ $output == *"status: REFUSED"* ]] || report "should be refused"
    [[ $output == *"EDE: "* ]] || report "should carry an extended error"
    [[ $output != *203.0.113.66* ]]
    works in_jail dig +time=15 +tries=1 +tcp evil.example
    [[ $output == *"status: REFUSED"* ]] || report "should be refused over TCP"
    run in_jail_sh 'dig +time=15 +tries=1 evil.example | sed -n "s/^;; Query time: \([0-9]*\) msec/x after \1 ms/p"'
    quick bash -c 'dig +time=15 +tries=1 evil.example | sed -n "s/^;; Query time: \([0-9]*\) msec/x after \1 ms/p"'
}

@test "names: NXDOMAIN and SERVFAIL are passed on" {
    filtered
    works in_jail dig +time=15 +tries=1 nx.example
    [[ $output == *"status: NXDOMAIN"* ]] || report "should not exist"
    works in_jail dig +time=15 +tries=1 fail.trick.example
    [[ $output == *"status: SERVFAIL"* ]] || report "should fail"
}

@test "UDP: refused at once, so that QUIC falls back" {
    filtered
    says "echo of hello" outside python3 sockets.py udp 203.0.113.10 443
    says "echo of hello" outside python3 sockets.py udp echo.example 443
    quick python3 sockets.py udp 203.0.113.10 443
    quick python3 sockets.py udp echo.example 443
    quick python3 sockets.py udp 2001:db8:10::10 443
}

@test "an unreachable server is reported as unreachable, not as forbidden" {
    filtered
    run outside curl -sS --max-time 30 http://good.example:4444/
    ((status == 7))
    works in_jail curl -sS --max-time 30 -i http://good.example:4444/
    [[ $output == *"HTTP/1.1 502"* && $output == *"onnection refused"* && $output == *'"do_not_retry":false'* ]] || report "should not read as a refusal"
}
