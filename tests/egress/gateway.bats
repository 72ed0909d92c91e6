#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The gateway itself: it belongs to one session, listens nowhere on the host, has few privileges, and the jail has no network after
# it ends.

load helper
setup() {
    start_egress_test
    filtered
}
teardown() { end_egress_test; }

listeners() { ss --no-header --listening --numeric --tcp | sort; }
# Without the session's own sockets, which are in directories that only the user can enter: its control socket, and the socket for
# reports of its helpers inside the jail.
unix_listeners() { ss --no-header --listening --numeric --unix | awk '{ print $5 }' | grep -vE '/(control|[0-9a-f]{32})$' | sort; }

@test "the gateway listens on no socket of the host" {
    local tcp unix
    # Where the host has Slurm, the chaperon listens too, on a socket whose name is already removed.
    JAIL+=(--slurm off)
    tcp=$(listeners) unix=$(unix_listeners)
    [[ $tcp == *:8001* ]]
    start_obedient_jail
    tell_jail "curl -sS --max-time 30 http://good.example/"
    [[ $output == *"good.example here"* ]]
    [[ $(listeners) == "$tcp" ]] || leak "a new listener: $(diff <(echo "$tcp") <(listeners))"
    [[ $(unix_listeners) == "$unix" ]] || leak "a new Unix listener: $(diff <(echo "$unix") <(unix_listeners))"
    # The addresses of the jail lead nowhere outside it.
    run as_neighbour curl -sS --max-time 1 --proxy http://198.18.0.1:3128 http://good.example/
    ((status != 0))
}

@test "the gateway has no new privileges, a seccomp filter, and can't be read by its user" {
    start_obedient_jail
    grep -qE '^NoNewPrivs:\s+1$' "/proc/$GATEWAY/status"
    grep -qE '^Seccomp:\s+2$' "/proc/$GATEWAY/status"
    grep -qE '^CapEff:\s+0+$' "/proc/$GATEWAY/status"
    # The control is a readable process of the same user.
    works as_user bash -c 'cat /proc/self/environ >/dev/null'
    run as_user cat "/proc/$GATEWAY/environ"
    ((status != 0)) || leak "its environment should not be readable"
    run as_user ls -l "/proc/$GATEWAY/fd/"
    ((status != 0)) || leak "its descriptors should not be readable"
    run as_user timeout 20 strace -qq -o /dev/null -p "$GATEWAY"
    ((status != 124)) && [[ $output == *"not permitted"* ]] || leak "it should not be traceable"
}

@test "the gateway has no descriptor of the caller" {
    as_user touch secret-file
    exec 7<secret-file
    start_obedient_jail
    exec 7<&-
    run -1 grep secret-file <(ls -l "/proc/$GATEWAY/fd")
}

@test "when the gateway is killed, the jail has no network, nothing hangs, and the user gets a message" {
    start_obedient_jail
    tell_jail "curl -sS --max-time 30 http://good.example/"
    [[ $output == *"good.example here"* ]]
    kill -KILL "$GATEWAY"
    wait_until is_gone "$GATEWAY"
    tell_jail "timeout 40 curl -sS --max-time 30 http://good.example/"
    ((status != 0)) || leak "should have no network"
    tell_jail "timeout 40 curl -sS --max-time 30 http://203.0.113.66/"
    ((status != 0)) && [[ $output != *here* ]] || leak "should have no network"
    ((status != 28 && status != 124)) || report "should not wait"
    tell_jail "timeout 40 python3 sockets.py udp 203.0.113.10 7"
    ((status != 0))
    wait_until grep -qiE 'gateway|network' "$BATS_TEST_TMPDIR/jail.out" || report "the user should be told: $(cat "$BATS_TEST_TMPDIR/jail.out")"
}

@test "the gateway ends with the session" {
    start_obedient_jail
    # No answer comes: the order kills the shell that would answer.
    echo 'kill $PPID' >orders
    wait_until is_gone "$SUPERVISOR"
    wait_until is_gone "$GATEWAY"
}

@test "the gateway ends when the supervisor is killed" {
    start_obedient_jail
    kill -KILL "$SUPERVISOR"
    wait_until is_gone "$GATEWAY"
}

@test "an established connection ends with the session" {
    start_obedient_jail
    tell_jail "python3 talk.py echo.example 9000 --wait 1 >/dev/null; (curl -sS --max-time 50 --limit-rate 1000 -o /dev/null http://good.example/zeros &)"
    wait_until has_connection_to_the_web
    kill -KILL "$SUPERVISOR"
    wait_until is_gone "$GATEWAY"
    wait_until no_connection_to_the_web
}
has_connection_to_the_web() { ss --no-header --numeric --tcp state established '( dport = :80 )' | grep -q 203.0.113.10; }
no_connection_to_the_web() { ! has_connection_to_the_web; }

@test "two sessions: each has a gateway and rules of its own" {
    start_obedient_jail
    local first=$GATEWAY
    says "evil.example here" as_user "$SBX_PROGRAM" --quiet --network filtered -- curl -sS --max-time 30 http://evil.example/
    tell_jail "curl -sS --max-time 30 http://evil.example/"
    [[ $output != *here* ]]
    [[ -d /proc/$first ]]
}

@test "a refusal is recorded with its rule, and without what was sent" {
    local log
    # The record contains the command line, so the secret is in a file.
    echo "http://good.example/?a-secret-query" >address
    works in_jail_sh 'curl -sS --max-time 30 "$(<address)"; curl -sS --max-time 30 http://evil.example/; curl -sS --max-time 30 http://203.0.113.66/; true'
    log=$(find "$SBX_HOME/.local/state" -name '*.jsonl' -newer authority.crt 2>/dev/null | head -n 1)
    [[ -n $log ]] || report "there should be a record below ~/.local/state"
    grep -q evil.example "$log"
    grep -q 203.0.113.66 "$log"
    grep -q good.example "$log"
    run -1 grep a-secret-query "$log"
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$log"
}
