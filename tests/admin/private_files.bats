#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files of /etc that the caller's groups may read and other users may not: hidden from the first launch on, however they became
# private.

load helper

setup() { start_admin_test copy; }
teardown() { end_admin_test; }

group() { id -g "$SBX_USER"; }

@test "a file of /etc that is made private between two launches is hidden in the second" {
    mkdir "$STAGE/etc/service"
    echo "planted secret" >"$STAGE/etc/service/token"
    prints "planted secret" in_jail cat /etc/service/token
    # This changes no directory.
    chown "root:$(group)" "$STAGE/etc/service/token"
    chmod 0640 "$STAGE/etc/service/token"
    prints "planted secret" on_stage cat /etc/service/token
    prints "" in_jail cat /etc/service/token
    prints "" in_jail cat /etc/service/token
    chmod 0644 "$STAGE/etc/service/token"
    prints "planted secret" in_jail cat /etc/service/token
}

@test "a private file that appears in /etc is hidden in the next launch" {
    mkdir "$STAGE/etc/service"
    works in_jail ls /etc/service
    install -m 0640 -g "$(group)" /dev/null "$STAGE/etc/service/token"
    echo "planted secret" >>"$STAGE/etc/service/token"
    prints "planted secret" on_stage cat /etc/service/token
    prints "" in_jail cat /etc/service/token
    run on_stage "$SBX_PROGRAM" why path /etc/service/token
    [[ $output == *"not readable by everyone"* ]] || report "why"
}

@test "a launch whose list of private files is old begins again and prints its lines once" {
    mkdir "$STAGE/etc/service"
    echo "planted secret" >"$STAGE/etc/service/token"
    prints "planted secret" in_jail cat /etc/service/token
    chown "root:$(group)" "$STAGE/etc/service/token"
    chmod 0640 "$STAGE/etc/service/token"
    run on_stage "$SBX_PROGRAM" --verbose -- sh -c 'echo ran >>ran; cat /etc/service/token; exit 7'
    [[ $status == 7 && $output != *secret* ]] || report "the launch that begins again"
    local first=$output
    run on_stage "$SBX_PROGRAM" --verbose -- sh -c 'cat /etc/service/token; exit 7'
    [[ $status == 7 && -n $output && $output == "$first" ]] || report "the same lines as a launch that does not; before: $first"
    prints "ran" on_stage cat ran
}
