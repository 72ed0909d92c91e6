#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A protected or masked file that is replaced outside is not covered for a moment. A process that opens it in that moment must not
# keep it.

load helper
load process_faults

setup() {
    start_test
    make_repository .
    echo "KEY=planted" >.env
}
teardown() { end_test; }

# start_holders KIND FILE: three processes that try, until the file `over` exists. The loops start a new process for each killed
# one.
start_holders() {
    start_jail '
        for number in 1 2 3; do
            until [ -e over ]; do python3 "$1/tests/jail/hold_file.py" "$2" "$3"; done 2>/dev/null &
        done
        touch ready
        until [ -e over ]; do sleep 0.05; done
        pkill -x python3; true' "$SBX_STAGE" "$1" "$2"
}
end_holders() {
    touch over
    end_of_jail
    rm -f over
}

replace_config() { git config user.name "Another $RANDOM"; }
replace_env() { echo "KEY=planted again" >new && mv new .env; }
replace_hooks() { mv .git/hooks .git/old && mkdir .git/hooks && rm -rf .git/old; }

is_reported() { grep -q "$1" "$BATS_TEST_TMPDIR/jail.out"; }

# replace_until WORDS REPLACE: the attack needs the right moment, so REPLACE runs until the session reports WORDS.
replace_until() {
    local round
    for round in $(seq 2000); do
        "$2"
        ! is_reported "$1" || return 0
        sleep 0.02
    done
    cat "$BATS_TEST_TMPDIR/jail.out" >&2
    echo "never reported: $1" >&2
    return 1
}

# The guard ends the whole session if it is not certain in time, which is as good: a busy machine may show that. Once it must end
# only the process.
is_taken_back() { # KIND FILE REPLACE
    local session
    for session in 1 2 3 4 5; do
        start_holders "$1" "$2"
        replace_until "$2 was replaced outside and open inside for a moment: .*\(was killed\|may still have it open\)" "$3"
        end_holders
        [[ $(grep -c fsmonitor .git/config) == 0 ]] || leak "the configuration was changed"
        if ((STATUS < 125)); then
            is_reported "$2 was replaced outside and open inside for a moment: .*was killed" || report "no process was killed"
            return 0
        fi
    done
    report "the whole session was ended, five times"
}

@test "a process that opens the file while it is uncovered is killed at once" {
    JAIL=(--backend native)
    is_taken_back keep .git/config replace_config
    works "$SBX_PROGRAM" log
    [[ $output == *cover*".git/config"*"opened inside"* ]] || report "not recorded"
}

@test "bubblewrap: a process that opens the file while it is uncovered is killed at once" {
    JAIL=(--backend bwrap)
    is_taken_back keep .git/config replace_config
}

@test "a descriptor in a socket's queue is found, and the process is killed" { is_taken_back socket .git/config replace_config; }

# While descriptors move all the time, the guard may not become certain: it then ends the session, which is as good.
@test "a descriptor that moves from socket to socket is found" {
    start_holders sockets .git/config
    replace_until ".git/config was replaced outside and open inside for a moment: .*was killed" replace_config
    end_holders
}

@test "a mapping is found in a process whose main thread has ended" { is_taken_back ended .git/config replace_config; }

@test "a descriptor in the table of a single thread is found" { is_taken_back thread .git/config replace_config; }

@test "a mapping whose descriptor is closed is found" { is_taken_back mapping .git/config replace_config; }

@test "a read-only descriptor is found, because it can be opened again for writing" { is_taken_back again .git/config replace_config; }

@test "a process that reads a masked file while it is uncovered is killed" { is_taken_back masked .env replace_env; }

@test "a directory is found as a descriptor and as a working directory" {
    is_taken_back directory .git/hooks replace_hooks
    is_taken_back enter .git/hooks replace_hooks
}

@test "a file that is written and closed while uncovered is reported with the settings that run programs" {
    start_holders write .git/config
    replace_until "new settings in it run programs: core.fsmonitor" replace_config
    is_reported "it was written inside" || report "the writing was not reported"
    end_holders
}

@test "a hard link that is made while the file is uncovered is reported" {
    start_holders link .env
    replace_until "project/.env was replaced outside and open inside for a moment: .*it has another name (a hard link)" replace_env
    end_holders
    works sh -c 'ls .env-again-*'
}

# `log` shows the newest record, and the names of records have seconds. A keeper may still write the last one.
forget_records() { wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null; }

# race_main_command KIND: the jail's main command tries it; the jail ends with this process.
race_main_command() {
    forget_records
    start_jail 'touch ready; exec python3 "$1/tests/jail/hold_file.py" "$2" .git/config' "$SBX_STAGE" "$1"
    while kill -0 "$SUPERVISOR" 2>/dev/null && ! grep -q fsmonitor .git/config; do
        replace_config
        sleep 0.02
    done
    end_of_jail
}
is_recorded() {
    works "$SBX_PROGRAM" log
    [[ $output == *cover*".git/config: opened inside: "*"$1"* ]] || report "not recorded"
}

@test "the main command that opened the file is reported, although the jail ends with it" {
    local round
    for round in 1 2 3 4 5; do
        race_main_command keep
        [[ $STATUS == 137 ]] || report "it was not killed"
        is_reported "inside had opened it and was killed" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
        is_recorded "was killed"
    done
}

# The main command may have opened a file that was replaced once more, or may be killed before it writes, on a busy machine nearly always.
# Such a round does not count.
@test "the main command that writes the file and exits is reported with the settings that run programs" {
    local round written=0
    for round in $(seq 500); do
        race_main_command leave
        grep -q fsmonitor .git/config || continue
        is_reported "it was written inside; new settings in it run programs: core.fsmonitor" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
        is_recorded "core.fsmonitor"
        git config --unset-all core.fsmonitor
        ((++written < 5)) || return 0
    done
    report "written in $written rounds"
}

@test "a keeper that is killed, or that does not answer, is named at the end" {
    local row
    for row in "KILL was killed" "STOP did not answer at the end"; do
        forget_records
        start_jail 'touch ready; until [ -e over ]; do sleep 0.05; done'
        need keeper
        kill -"${row%% *}" "$FOUND"
        end_holders
        [[ $STATUS == 0 ]] || report "the session failed"
        is_reported "covers protected files again ${row#* }: check the files" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
        works "$SBX_PROGRAM" log
        [[ $output == *"not guarded to the end: "*"${row#* }"* ]] || report "not recorded"
    done
    start_jail 'touch ready; until [ -e over ]; do sleep 0.05; done'
    end_holders
    [[ ! -s $BATS_TEST_TMPDIR/jail.out ]] || report "named although it answered"
}

@test "the user's own settings that run programs are named, harmless ones are not" {
    start_jail 'touch ready; until [ -e over ]; do sleep 0.05; done'
    git config user.name Another
    git config core.editor vi
    wait_until is_reported "new settings in it run programs: core.editor"
    git config core.fsmonitor true
    git config core.pager less
    wait_until is_reported "new settings in it run programs: core.pager"
    end_holders
    ! is_reported "fsmonitor\|user.name" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

@test "a process that reads a protected file is not killed" {
    start_holders cover .git/config
    # One that opens the file while it is replaced is killed.
    all_read() { (($(compgen -G "reading.*" | wc -l) == 3)); }
    wait_until all_read
    local before
    before=$(readers)
    (($(wc -l <<<"$before") == 3)) || report "not three readers: $before"
    replace_config
    wait_until is_covered_again
    # More of them may have started since.
    [[ -z $(comm -23 <(echo "$before") <(readers)) ]] || report "a reader was killed"
    end_holders
    ! is_reported killed || report "a reader was killed"
}
# Not the shell of the jail: each process that it starts has its words for a moment.
readers() { pgrep -u "$(id -u)" -f '^python3 [^ ]*/hold_file\.py ' | sort; }
# The session reports a later replacement, so it has finished its work on the first one.
is_covered_again() {
    git config core.editor vi
    is_reported core.editor
}

# The file system gives the number of a removed file to a new one.
@test "a process that makes files while a masked one is replaced again and again is not killed" {
    start_jail 'touch ready; exec python3 -c "
import os
files, number = [], 0
while not os.path.exists(\"over\"):
    number += 1
    files.append(open(f\"made.{number}\", \"w\"))
    os.unlink(files[-1].name)
    if len(files) > 20: files.pop(0).close()"'
    python3 -c 'import os, time
for _ in range(500):
    with open("new", "w") as file:
        file.write("KEY=planted again\n")
    os.rename("new", ".env")
    time.sleep(0.002)'
    end_holders
    [[ $STATUS == 0 ]] && ! is_reported killed || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

# Our own process, before it executes the command, can't be examined.
@test "a command that starts slowly is not treated as a holder of the file" {
    JAIL=(--backend native)
    local program=$SBX_PROGRAM
    SBX_PROGRAM=$BATS_TEST_TMPDIR/slow
    printf '#!/bin/sh\nexec strace -qq -f -o %s -e trace=execve -e inject=execve:delay_enter=500000 %s "$@"\n' "$SBX_PROGRAM.trace" "$program" >"$SBX_PROGRAM"
    chmod +x "$SBX_PROGRAM"
    touch going
    while [[ -e going ]]; do replace_env && sleep 0.01; done 3>&- &
    CHILDREN+=($!)
    start_jail 'touch ready'
    end_of_jail
    rm going
    SBX_PROGRAM=$program
    grep -q "execve(.*DELAYED" "$BATS_TEST_TMPDIR/slow.trace" || report "it was not slow"
    [[ $STATUS == 0 ]] && ! is_reported killed || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

# The control: with the keeper killed the same loop changes the host's file.
@test "control: without the keeper the process changes the file" {
    JAIL=(--backend native)
    start_holders write .git/config
    need keeper
    kill -KILL "$FOUND"
    soon is_dead "$FOUND"
    replace_config
    is_changed() { grep -q fsmonitor .git/config; }
    wait_until is_changed
    end_holders
}
