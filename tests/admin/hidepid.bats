#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A host whose /proc hides processes of other users (hidepid), as many clusters have it. It hides the stage as well, because the
# stage is not dumpable: limits must still be held, or refused, and a running session must still answer its user.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

hides() { PREPARE="mount -t proc -o hidepid=$1 proc /proc"; }

HOG='x = b"a" * (400 << 20); print("got all of it")'
FILE='head -c 200M /dev/zero >/tmp/file; echo got all of it; sleep 20'

@test "control: the host's /proc shows other processes, and not with hidepid" {
    works on_stage cat /proc/1/stat
    hides 1
    fails "Operation not permitted" on_stage cat /proc/1/stat
    hides 2
    fails "No such file" on_stage cat /proc/1/stat
    prints "got all of it" on_stage python3 -c "$HOG"
}

@test "limits of memory are held where /proc hides processes" {
    local backend level
    for level in 1 2; do
        hides "$level"
        for backend in native bwrap firejail; do
            JAIL=(--backend "$backend" --limit memory=100M)
            refused 137 "limits.memory = 100M was reached" in_jail python3 -c "$HOG"
            refused 137 "limits.memory = 100M was reached" in_jail sh -c "$FILE"
        done
    done
}

@test "without a pid namespace, a limit that can't be measured is refused" {
    JAIL=(--backend landlock --limit memory=100M)
    fails "limits.memory = 100M was reached" in_jail python3 -c "$HOG"
    hides 2
    fails "limits.memory can't be held here: /proc hides the processes of the jail" in_jail touch ran
    JAIL=(--backend landlock --limit idle_time=50s)
    fails "limits.idle_time can't be held here" in_jail touch ran
    [[ ! -e $PROJECT/ran ]]
    JAIL=(--backend landlock --limit wall_time=50s)
    works in_jail true
}

@test "a busy command is not idle where /proc hides processes" {
    local backend
    hides 2
    for backend in native bwrap firejail; do
        JAIL=(--backend "$backend" --limit idle_time=2s)
        works in_jail bash -c 'while ((SECONDS < 4)); do :; done'
        refused 124 "limits.idle_time = 2s was reached" in_jail sleep 50
    done
}

# One namespace for the session and its user: `hidepid` of another mount would not count.
ASK='
    program=$1 backend=$2
    rm -f up over inspected allowed
    "$program" --quiet --backend "$backend" -- sh -c "touch up; until [ -e over ]; do sleep 0.02; done" &
    until [ -e up ]; do sleep 0.02; done
    "$program" allow example.org >allowed && "$program" inspect --json >inspected &&
        "$program" pending && "$program" reload && "$program" stop "$("$program" ps | sed -n "2s/ .*//p")"
    status=$?
    touch over
    wait
    exit $status'

@test "a session answers its user where /proc hides processes" {
    local backend level
    for level in 1 2; do
        hides "$level"
        for backend in native bwrap firejail landlock; do
            works on_stage sh -c "$ASK" sh "$SBX_PROGRAM" "$backend"
            works test -s "$PROJECT/allowed"
            [[ $backend == landlock ]] || works jq -e '.limits[] | select(.name == "limits.memory") | .used > 0' "$PROJECT/inspected"
        done
    done
}

# A process that has given up new privileges looks like one of the jail if its ancestors are hidden.
@test "without a pid namespace, a process that may be in the jail gets an answer with the reason" {
    hides 2
    fails "it may be in the jail" on_stage setpriv --no-new-privs sh -c "$ASK" sh "$SBX_PROGRAM" landlock
    works on_stage setpriv --no-new-privs sh -c "$ASK" sh "$SBX_PROGRAM" native
}
