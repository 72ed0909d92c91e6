#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A gateway that lacks a resource: closed hosts stay closed, allowed hosts work again as soon as possible, and the record names the
# reason of a failure.

load helper
setup() {
    start_egress_test
    filtered --slurm off
    start_obedient_jail
}
teardown() { end_egress_test; }

fetch() { tell_jail "curl -sS --max-time $2 http://$1/"; } # HOST SECONDS

# The lowest descriptor number that the gateway does not use.
lowest_free() { ls "/proc/$1/fd" | sort -n | awk '$1 != free { exit } { free++ } END { print free }' free=0; }
is_at_rest() { (($(descriptors_of "$GATEWAY") <= DESCRIPTORS)); }

closed_hosts_are_closed() {
    local host
    for host in evil.example 203.0.113.66; do
        fetch "$host" 3
        # A refusal may be a page with the reason.
        [[ $output != *" here"* ]] || leak "$1: $host should be closed"
    done
}

@test "a gateway without free descriptors permits nothing forbidden, and works again when it has some" {
    local limits more failed=0
    DESCRIPTORS=$(descriptors_of "$GATEWAY")
    says " here" outside curl -sS --max-time 30 http://evil.example/
    says " here" outside curl -sS --max-time 30 http://203.0.113.66/
    fetch good.example 10
    [[ $output == *"good.example here"* ]] || report "control: should get through"
    closed_hosts_are_closed "before"
    limits=$(as_user prlimit --pid "$GATEWAY" --nofile --output SOFT,HARD --noheadings | xargs | tr ' ' :)
    # Without a free descriptor the gateway accepts no connection. With one or two it accepts, and can't connect to the server.
    for more in 0 1 2; do
        wait_until is_at_rest || report "descriptors: $DESCRIPTORS before, $(descriptors_of "$GATEWAY") now"
        as_user prlimit --pid "$GATEWAY" --nofile="$(($(lowest_free "$GATEWAY") + more)):${limits#*:}"
        fetch good.example 2
        ((status == 0)) || failed=$((failed + 1))
        closed_hosts_are_closed "with $more"
        as_user prlimit --pid "$GATEWAY" --nofile="$limits"
        fetch good.example 10
        [[ $output == *"good.example here"* ]] || report "should get through again, after $more"
        closed_hosts_are_closed "after $more"
    done
    ((failed > 0)) || report "control: the gateway should have missed them"
    as_user "$SBX_PROGRAM" log last --json | grep -q '"cause":"limit".*no descriptors left' ||
        { as_user "$SBX_PROGRAM" log last >&2; return 1; }
}
