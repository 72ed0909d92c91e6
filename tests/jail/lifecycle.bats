#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How a run ends, and that it ends: exit codes, signals, streams, death of the supervisor.

load helper
setup() { start_test; }
teardown() { end_test; }

ends_with() {
    local code=$1
    shift
    run "$@"
    ((status == code)) || report "should end with $code: $*"
}

# bats test_tags=smoke
@test "the exit status is the command's" {
    ends_with 0 in_jail true
    ends_with 1 in_jail false
    ends_with 3 in_jail sh -c 'exit 3'
    ends_with 125 in_jail sh -c 'exit 125'
    ends_with 255 in_jail sh -c 'exit 255'
}

@test "128 + n after signal n" {
    ends_with 143 in_jail sh -c 'kill -TERM $$'
    ends_with 137 in_jail sh -c 'kill -KILL $$'
    ends_with 139 in_jail sh -c 'kill -SEGV $$'
}

@test "127 for a command that is not there" {
    refused 127 "no-such-command" in_jail no-such-command
    refused 127 "/no/such/command" in_jail /no/such/command
}

@test "126 for a command that can't be executed" {
    echo text >file
    chmod 0644 file
    refused 126 "file" in_jail ./file
    refused 126 "" in_jail "$PROJECT"
}

@test "125 when the jail can't be built, and nothing ran" {
    JAIL=(--ro /no/such/source)
    refused 125 "/no/such/source" in_jail touch ran
    fails "" test -e ran
}

@test "a signal to the supervisor reaches the command" {
    start_jail 'trap "echo got it >trapped; exit 42" TERM; touch ready; while :; do sleep 0.02; done'
    kill -TERM "$SUPERVISOR"
    end_of_jail
    [[ $STATUS == 42 ]]
    prints "got it" cat trapped
}

@test "HUP, INT, USR1 and USR2 are forwarded too" {
    local signal
    for signal in HUP INT USR1 USR2; do
        start_jail 'trap "echo $1 >trapped; exit 7" "$1"; touch ready; while :; do sleep 0.02; done' "$signal"
        kill "-$signal" "$SUPERVISOR"
        end_of_jail
        [[ $STATUS == 7 ]]
        prints "$signal" cat trapped
    done
}

two_run() { (($(pgrep -c -u "$SBX_USER" -xf "$1") == 2)); }

# The machine may be busy for a moment, so one of several attempts must be fast enough.
@test "when the supervisor is killed, everything in the jail is gone within 100 ms" {
    local length started taken
    for _ in {1..40}; do
        length="1000.$RANDOM$RANDOM"
        start_jail 'setsid sh -c "setsid sleep $1 & wait" & sleep "$1" & touch ready; wait' "$length"
        wait_until two_run "sleep $length"
        started=${EPOCHREALTIME/./}
        kill -KILL "$SUPERVISOR"
        while pgrep -u "$SBX_USER" -xf "sleep $length" >/dev/null; do
            ((${EPOCHREALTIME/./} - started < 60000000)) || { pgrep -u "$SBX_USER" -af "$length" >&2; return 1; }
        done
        taken=$((${EPOCHREALTIME/./} - started))
        end_of_jail
        ((taken >= 100000)) || return 0
    done
    echo "it took $taken microseconds" >&2
    return 1
}

@test "when the command ends, what it left in the background ends too" {
    local length="1000.$RANDOM$RANDOM"
    works in_jail_sh 'setsid sleep "$1" </dev/null >/dev/null 2>&1 & true' "$length"
    fails "" pgrep -u "$SBX_USER" -xf "sleep $length"
}

@test "standard input, output and error are byte-exact and apart" {
    head -c 3000000 /dev/urandom >"$BATS_TEST_TMPDIR/bytes"
    in_jail cat <"$BATS_TEST_TMPDIR/bytes" >"$BATS_TEST_TMPDIR/through"
    works cmp "$BATS_TEST_TMPDIR/bytes" "$BATS_TEST_TMPDIR/through"
    cat "$BATS_TEST_TMPDIR/bytes" | in_jail cat | cmp - "$BATS_TEST_TMPDIR/bytes"
    in_jail_sh 'cat >&2' <"$BATS_TEST_TMPDIR/bytes" 2>"$BATS_TEST_TMPDIR/through" >"$BATS_TEST_TMPDIR/out"
    works cmp "$BATS_TEST_TMPDIR/bytes" "$BATS_TEST_TMPDIR/through"
    fails "" test -s "$BATS_TEST_TMPDIR/out"
}

@test "a reader that goes away ends the writer" {
    run bash -c '"$SBX_PROGRAM" --quiet -- yes | head -n 1'
    [[ $output == y ]]
}

@test "arguments reach the command untouched" {
    prints $'<>\n<a b>\n<*>\n<--help>\n<$x>' in_jail printf '<%s>\n' "" "a b" "*" --help '$x'
}

@test "options after the command belong to the command" {
    prints "--version" "$SBX_PROGRAM" --quiet sh -c 'echo "$1"' sh --version
}

@test "twenty runs at once, each with its own answer" {
    local number processes=()
    for number in $(seq 20); do
        in_jail sh -c "echo $number; exit $number" >"$BATS_TEST_TMPDIR/$number" 3>&- &
        processes+=($!)
        CHILDREN+=($!)
    done
    for number in $(seq 20); do
        STATUS=0
        wait "${processes[number - 1]}" || STATUS=$?
        [[ $STATUS == "$number" && $(cat "$BATS_TEST_TMPDIR/$number") == "$number" ]]
    done
}

own_in_tmp() { find /tmp /dev/shm -mindepth 1 -maxdepth 1 -user "$SBX_USER" | sort; }

# Without zombies: the machine's own pid 1 may not have reaped an orphan of an earlier test yet.
nobody_is_left() { ! pgrep -u "$SBX_USER" --runstates DRST -f "bwrap|$SBX_PROGRAM" >/dev/null; }

@test "no process and no file is left after a run" {
    { own_in_tmp && home_listing; } >"$BATS_TEST_TMPDIR/before"
    works in_jail true
    { own_in_tmp && home_listing; } >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    # The keeper removes placeholders within a few milliseconds after the run.
    wait_until nobody_is_left || { pgrep -u "$SBX_USER" -a -f "bwrap|$SBX_PROGRAM" >&2; return 1; }
}

@test "the launcher executes bwrap and nothing else on the host" {
    # Threat: the launch runs the project's code outside, if it starts a program by name with the project as working directory or on
    # PATH.
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$PROJECT" >bwrap
    cp bwrap sh && cp bwrap git && chmod +x bwrap sh git
    PATH=$PROJECT:$PATH works "$SBX_PROGRAM" --quiet -- /bin/true
    fails "" test -e ran
    strace -f -e trace=execve -o "$BATS_TEST_TMPDIR/trace" "$SBX_PROGRAM" --quiet -- /bin/true || true
    works sh -c 'grep -o "execve(\"[^\"]*\"" "$1" | sort -u' sh "$BATS_TEST_TMPDIR/trace"
    [[ $(grep -vcE '/agent-sandbox"|/bwrap"|/bin/true"|/proc/self/|/run/|/dev/fd' <<<"$output") == 0 ]] || leak "something else was executed"
}
