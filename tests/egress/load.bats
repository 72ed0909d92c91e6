#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Load and attacks: many, slow, dead and greedy peers. The gateway's memory and descriptors stay bounded, and other clients are
# served.

load helper
setup() {
    start_egress_test
    filtered --quiet
    start_obedient_jail
    tell_jail "curl -sS --max-time 30 http://good.example/quiet"
    [[ $output == quiet ]]
    MEMORY=$(memory_of "$GATEWAY")
    DESCRIPTORS=$(descriptors_of "$GATEWAY")
}
teardown() { end_egress_test; }

grew_by_at_most() { # KIB
    local now
    now=$(memory_of "$GATEWAY")
    ((now <= MEMORY + $1)) || report "the gateway grew from $MEMORY to $now KiB"
}
is_back() { (($(descriptors_of "$GATEWAY") <= DESCRIPTORS + 4)); }
is_as_before() {
    wait_until is_back || report "descriptors: $DESCRIPTORS before, $(descriptors_of "$GATEWAY") now"
    grew_by_at_most 6000
    tell_jail "curl -sS --max-time 30 http://good.example/quiet"
    [[ $output == quiet ]] || report "should serve as before"
}

@test "5,000 short connections in a row" {
    local count=5000
    [[ ${SBX_WHOLE:-} == 1 ]] || count=1000
    tell_jail "python3 load.py in-a-row $count good.example 8080"
    [[ $output == "$count" ]] || report "all should come through"
    is_as_before
}

@test "1,000 connections at once" {
    tell_jail "ulimit -n 4096; python3 load.py at-once 1000 good.example 8080"
    [[ $output == 1000 ]] || report "all should come through"
    grew_by_at_most 40000
    wait_until is_back || report "descriptors should be given back"
}

@test "connections beyond the session's limit are refused, earlier ones go on" {
    tell_jail "ulimit -n 10000; python3 load.py at-once 4000 good.example 8080 2>&1 | tail -n 1"
    grew_by_at_most 120000
    wait_until is_back || report "descriptors should be given back"
    tell_jail "curl -sS --max-time 30 http://good.example/quiet"
    [[ $output == quiet ]] || report "should serve as before"
}

@test "500 HTTP heads without an end do not disturb others, and none reaches the server" {
    log_mark
    # In less than ten seconds: then the gateway closes a connection whose head has not ended.
    tell_jail "python3 load.py loris 500 good.example 80 >loris.out 2>&1 & until [ -e loris.up ]; do sleep 0.05; done; curl -sS --max-time 9 http://good.example/quiet; touch loris.end; wait; cat loris.out"
    [[ $output == *quiet*500* ]] || report "others should be served"
    grew_by_at_most 40000
    unseen web smuggled
    wait_until is_back || report "descriptors should be given back"
}

@test "half-close is passed on, both ways" {
    tell_jail "python3 load.py half-close 3000000 echo.example 9001"
    [[ $output == *"3000000 $(head -c 3000000 /dev/zero | sha256sum | cut -d' ' -f1)"* ]] || report "the answer should come after the end"
    is_as_before
}

@test "a reset is passed on" {
    tell_jail "python3 talk.py echo.example 9003 x; true"
    [[ $output == *reset* || $output == *closed* ]] || report "should end at once"
    is_as_before
}

@test "buffers for a server that never reads are bounded" {
    tell_jail "for i in 1 2 3 4 5 6 7 8; do python3 load.py unread echo.example 9002 & done; wait"
    grew_by_at_most 30000
    tell_jail "curl -sS --max-time 30 http://good.example/quiet"
    [[ $output == quiet ]] || report "others should be served"
}

@test "buffers for a jail that never reads are bounded" {
    tell_jail "for i in 1 2 3 4 5 6 7 8; do python3 load.py unread echo.example 9004 & done; sleep 1; curl -sS --max-time 30 http://good.example/quiet; wait"
    [[ $output == *quiet* ]] || report "others should be served"
    grew_by_at_most 30000
}

# The first gigabyte of it, if not all cases are tried.
@test "a stream of 10 GB" {
    local bytes=10737418240
    [[ ${SBX_WHOLE:-} == 1 ]] || bytes=1073741824
    TELL_SECONDS=610 tell_jail "curl -sS --max-time 600 -r 0-$((bytes - 1)) -o /dev/null -w '%{size_download}' http://good.example:8080/zeros"
    [[ $output == "$bytes" ]] || report "should be complete"
    is_as_before
}

@test "3 MB of noise both ways, unchanged" {
    tell_jail "curl -sS --max-time 30 https://good.example/random | sha256sum; curl -sS --max-time 30 http://good.example/random | sha256sum"
    [[ $(grep -c "$(sha256sum <"$INTERNET/www/random")" <<<"$output") == 2 ]] || report "should be the same bytes"
    is_as_before
}

@test "many lookups at once" {
    tell_jail "python3 load.py lookups 2000"
    [[ $output == 2000 ]] || report "each should have an address of its own"
    is_as_before
}
