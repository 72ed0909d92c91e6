#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A placeholder on the host, which covers a missing name, does not outlive the last session that needs it. No process removes it
# while a session needs it.

load helper
load process_faults

setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    make_repository .
    git commit -q --allow-empty -m start
    listing >"$BATS_TEST_TMPDIR/before"
}
teardown() { end_test; }

# Everything except the files that git itself writes.
listing() { find . -path ./.git/objects -prune -o -path ./ready -prune -o -print | sort; }

nothing_left() {
    listing >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

holds() { fails "" in_jail_sh 'mkdir -p .vscode && echo inside >.vscode/tasks.json'; }

# bats test_tags=smoke
@test "nothing is left after a session" {
    works in_jail true
    nothing_left
}

@test "nothing is left after a session that failed, was not found or was killed" {
    run in_jail false
    nothing_left
    run -127 in_jail /nonexistent
    nothing_left
    run in_jail_sh 'kill -KILL $$'
    nothing_left
}

@test "git sees nothing of it while a session runs" {
    prints "" in_jail git status --porcelain
    prints "" in_jail git ls-files --others
}

@test "a directory that the host already had stays, with its content" {
    mkdir .vscode
    echo "of the host" >.vscode/tasks.json
    listing >"$BATS_TEST_TMPDIR/before"
    works in_jail true
    nothing_left
    prints "of the host" cat .vscode/tasks.json
}

@test "an empty directory that the host already had stays" {
    mkdir .vscode
    listing >"$BATS_TEST_TMPDIR/before"
    works in_jail true
    nothing_left
}

@test "the end of one session takes nothing from another" {
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; mkdir -p .vscode; echo inside >.vscode/tasks.json; rm go'
    works in_jail true
    holds
    touch go
    end_of_jail
    fails "" test -e .vscode/tasks.json
    nothing_left
}

@test "the end of the session that made a placeholder does not take it from a later one" {
    start_jail 'touch ready; until [ -e end-first ]; do sleep 0.02; done; rm end-first'
    local first=$SUPERVISOR
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; mkdir -p .vscode; echo inside >.vscode/tasks.json; rm go'
    touch end-first
    wait "$first"
    touch go
    end_of_jail
    fails "" test -e .vscode/tasks.json
    nothing_left
}

@test "many sessions at once leave nothing, and each is protected" {
    local processes=() process
    for _ in 1 2 3 4 5 6 7 8; do
        in_jail_sh 'mkdir -p .vscode && echo inside >.vscode/tasks.json && echo broken >broken; true' 3>&- &
        processes+=($!)
        CHILDREN+=($!)
    done
    for process in "${processes[@]}"; do wait "$process"; done
    fails "" test -e broken
    nothing_left
}

@test "after the supervisor is killed, nothing is left" {
    start_jail 'touch ready; sleep 1000'
    # The keeper starts beside the command, which may be faster. If a session dies before its keeper starts, the next session
    # removes the placeholders.
    wait_until has_process keeper
    kill -KILL "$SUPERVISOR"
    end_of_jail
    wait_until nothing_left
}

@test "a session that starts just after another was killed works, and leaves nothing" {
    start_jail 'touch ready; sleep 1000'
    kill -KILL "$SUPERVISOR"
    works in_jail true
    end_of_jail
    wait_until nothing_left
}

@test "a killed session's leftovers are not taken from a session that still runs" {
    start_jail 'touch ready; sleep 1000'
    local first=$SUPERVISOR
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; mkdir -p .vscode; echo inside >.vscode/tasks.json; rm go'
    kill -KILL "$first"
    works in_jail true
    touch go
    end_of_jail
    fails "" test -e .vscode/tasks.json
    wait_until nothing_left
}

@test "what the user puts into a placeholder meanwhile is kept" {
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; rm go'
    mkdir -p .vscode
    echo "of the user" >.vscode/settings.json
    touch go
    end_of_jail
    prints "of the user" cat .vscode/settings.json
}

# The directory and its content are made in one tick of the file system's clock. So the times of the directory do not show that it
# has content. A round in which the cover is back before the content is written does not count.
@test "what the jail puts in the place of a removed placeholder is left there and named at the end" {
    local round written=0
    cat >replace.py <<'END'
import os
open("ready", "w").close()
while True:
    try:
        os.mkdir(".vscode")
        open(".vscode/tasks.json", "w").close()
        print("written")
        break
    except FileExistsError:
        pass
    except OSError:
        break
END
    for round in $(seq 50); do
        wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null # `log` shows the newest record, and their names have seconds
        start_jail 'exec python3 replace.py'
        rmdir .vscode
        end_of_jail
        output=$(cat "$BATS_TEST_TMPDIR/jail.out")
        # The command may have been killed after it wrote and before it printed.
        [[ $output == *written* ]] || { rm -rf .vscode; continue; }
        works test -e .vscode/tasks.json
        output=$(cat "$BATS_TEST_TMPDIR/jail.out")
        [[ $output == *".vscode was replaced outside"*"check it"* ]] || report "not named"
        works "$SBX_PROGRAM" log
        [[ $output == *cover*".vscode: covered again"* ]] || report "not recorded"
        rm -r .vscode
        ((++written < 5)) || return 0
    done
    report "written in $written rounds"
}
