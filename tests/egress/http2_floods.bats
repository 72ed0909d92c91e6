#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Clients of HTTP/2 that send frames without end, read nothing or end no request. They cost the gateway no more than a bounded memory, and
# other clients are served.

load helper
load brokered

setup() {
    start_credential_test
    define_tracker_from "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" 'when = "always"'
}
teardown() { end_egress_test; }

memory_of() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }
peak_of() { awk '/^VmHWM:/ { print $2 }' "/proc/$1/status"; }

@test "floods end with ENHANCE_YOUR_CALM, and the next client is served" {
    start_brokered_jail
    tell_jail 'python3 http2_frames.py good.example floods'
    local line count=0
    while read -r line; do
        [[ $line =~ ^[A-Za-z\ ]+:\ (goaway\ 11|closed) ]] || report "should end the connection: $line"
        count=$((count + 1))
    done <<<"$output"
    ((count == 8)) || report "should have 8 floods"
    [[ $(grep -c "goaway 11" <<<"$output") -ge 4 ]] || report "should give the reason"
    works as_user "$SBX_PROGRAM" log last --json
    [[ $output == *"the client's HTTP/2 is refused: too many frames without data"* ]] || report "should be in the record"
    [[ $output == *"the client's HTTP/2 is refused: a header block has too many frames"* ]] || report "should be in the record"
    tell_jail 'python3 http2_frames.py good.example usual'
    [[ $output == *": 200"* ]] || report "should serve the next client"
    local peak
    peak=$(peak_of "$GATEWAY")
    ((peak < 100000)) || report "the gateway needs $peak KiB"
}

@test "a hundred streams that are never read or never end need a bounded memory" {
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    local before after
    before=$(memory_of "$GATEWAY")
    tell_jail 'mkfifo wait; (python3 http2_frames.py good.example silent <wait >silent &); exec 7>wait; until grep -q asked silent; do sleep 0.1; done; sleep 3'
    tell_jail 'mkfifo wait2; (python3 http2_frames.py good.example open <wait2 >open &); exec 8>wait2; until grep -q asked open; do sleep 0.1; done; sleep 1'
    after=$(memory_of "$GATEWAY")
    # 100 connections to the server, each with its TLS, and at most 256 KiB in each.
    ((after - before < 60000)) || report "should stay bounded: $before KiB, then $after KiB"
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should serve other clients"
}
