#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A mount that covers a name stays on it, whatever happens outside to the file below. A rename over that file removes the mount in
# every namespace, so the keeper has to mount it again.

load helper
load process_faults

setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    make_repository .
    echo "KEY=planted" >.env
}
teardown() { end_test; }

# in_covers SCRIPT NAME...: the jail waits until the file `look` exists, then for ten seconds at most until each NAME is a mount
# point again, and runs SCRIPT.
in_covers() {
    local script=$1
    shift
    start_jail '
        is_covered() {
            for name; do
                case $name in /*) ;; *) name=$PWD/$name ;; esac
                grep -qF " $name " /proc/self/mountinfo || return 1
            done
        }
        '"${BESIDE:-}"'
        touch ready
        until [ -e look ]; do sleep 0.05; done
        tries=0
        until is_covered "$@" || [ $((tries += 1)) = 200 ]; do sleep 0.05; done
        '"$script" "$@"
}
go_on() {
    touch look
    end_of_jail
    rm look
    output=$(cat "$BATS_TEST_TMPDIR/jail.out")
}

# These attempts must fail inside.
TRIES='
    grep -s planted .env
    echo "[inside]" 2>/dev/null >>.git/config && echo config-written
    echo inside 2>/dev/null >.envrc && echo envrc-made
    echo tried'

replace_outside() {
    echo "KEY=planted again" >new && mv new .env
    git config user.name Another
    rmdir .envrc
}

covers_stay() {
    JAIL=(--backend "$1")
    in_covers "$TRIES" .env .git/config .envrc
    replace_outside
    go_on
    [[ $output != *planted* && $output != *written* && $output != *made* ]] || leak "something was open"
    [[ $output == *tried* ]] || report "did not try"
    ! grep -q inside .git/config || leak "git's configuration was written"
    works test ! -e .envrc
}

# bats test_tags=smoke
@test "a file that is replaced outside, and a placeholder that is removed, are covered again" {
    covers_stay native
}

@test "bubblewrap: a file that is replaced outside, and a placeholder that is removed, are covered again" {
    covers_stay bwrap
}

# Linux before 5.12 has no mount_setattr, and before 6.15 no open_tree_attr.
@test "without mount_setattr, a file that is replaced outside is covered again" {
    local without="$BATS_TEST_DIRNAME/without_call.py"
    printf '#!/bin/sh\nexec python3 %s 442 python3 %s 467 %s "$@"\n' "$without" "$without" "$SBX_PROGRAM" >"$BATS_TEST_TMPDIR/old"
    chmod 755 "$BATS_TEST_TMPDIR/old"
    prints ENOSYS python3 "$without" 442 "${CALL[@]}" mount_setattr 0 0 0 0 0
    SBX_PROGRAM=$BATS_TEST_TMPDIR/old
    covers_stay native
    covers_stay bwrap
}

# On an open network the keeper answers `socket`. These processes make such calls all the time.
@test "calls that the keeper answers do not delay the covers" {
    printf 'import socket\nwhile True:\n    socket.socket(socket.AF_UNIX).close()\n' >flood.py
    local BESIDE='for i in 1 2 3 4 5 6; do python3 flood.py & done'
    JAIL=(--backend native --network open)
    in_covers "$TRIES" .env .git/config .envrc
    replace_outside
    go_on
    [[ $output != *planted* && $output != *written* && $output != *made* ]] || leak "something was open"
    [[ $output == *tried* ]] || report "did not try"
    works test ! -e .envrc
}

# The control: without a process that mounts the covers again, all of these files are open.
@test "control: without the keeper the replaced files are uncovered" {
    JAIL=(--backend native)
    in_covers "$TRIES"
    need keeper
    kill -KILL "$FOUND"
    soon is_dead "$FOUND"
    replace_outside
    go_on
    [[ $output == *planted* && $output == *config-written* && $output == *envrc-made* ]] || report "something was covered all the same"
}

@test "files that are replaced repeatedly, also with their directories, are covered again" {
    mkdir -p services/api && echo "KEY=planted" >services/api/.env
    in_covers 'cat services/api/.env .env; echo 2>/dev/null >.git/hooks/post-commit && echo hook-made; echo tried' services/api/.env .env .git/hooks
    local round
    for round in 1 2 3 4 5; do
        mv services services.old && mkdir -p services/api && echo "KEY=planted $round" >services/api/.env && rm -r services.old
        echo "KEY=planted $round" >new && mv new .env
        mv .git/hooks .git/old && mkdir .git/hooks && rm -r .git/old
        sleep 0.1
    done
    go_on
    [[ $output != *planted* && $output != *hook-made* ]] || leak "something was open"
    [[ $output == *tried* ]] || report "did not try"
    [[ ! -e .git/hooks/post-commit ]] || leak "a hook was made"
}

@test "credentials that are replaced in a visible home are covered again" {
    mkdir "$HOME/.ssh" && echo planted >"$HOME/.ssh/id_rsa" && echo planted >"$HOME/.netrc"
    local home
    for home in read write; do
        JAIL=(--home "$home")
        in_covers 'grep -rs planted "$HOME/.ssh" "$HOME/.netrc"; echo tried' "$HOME/.ssh" "$HOME/.netrc"
        cp -r "$HOME/.ssh" "$HOME/new" && mv "$HOME/.ssh" "$HOME/old" && mv "$HOME/new" "$HOME/.ssh" && rm -r "$HOME/old"
        echo planted >"$HOME/new" && mv "$HOME/new" "$HOME/.netrc"
        prints planted cat "$HOME/.netrc"
        go_on
        [[ $output != *planted* ]] || leak "--home $home: open"
        [[ $output == *tried* ]] || report "did not try"
    done
}

@test "a replaced file is reported at the end and recorded, a restored placeholder is not" {
    in_covers : .env .git/config .envrc
    replace_outside
    go_on
    [[ $output == *"/project/.env was replaced outside while the session ran, and was open inside for a moment: check it"* ]] || report "not told"
    [[ $output == *"/project/.git/config was replaced outside"* && $output != *.envrc* ]] || report "not told, or too much"
    works "$SBX_PROGRAM" log
    [[ $output == *cover*"/project/.env"* ]] || report "not recorded"
}

@test "a file that is replaced very often does not suppress reports of others" {
    in_covers : .env .git/config
    python3 -c 'import os, time
for _ in range(600):
    with open(".git/new", "w") as file:
        file.write("[core]\n\tbare = false\n")
    os.rename(".git/new", ".git/config")
    time.sleep(0.004)'
    echo "KEY=planted again" >new && mv new .env
    go_on
    [[ $output == *"/project/.git/config was replaced outside"* && $output == *"/project/.env was replaced outside"* ]] || report "not told"
    [[ $(grep -c replaced <<<"$output") == 2 ]] || report "told more than once"
}

@test "a file that is replaced at any moment of a launch is covered" {
    local round writer
    for round in $(seq 20); do
        touch going
        python3 -c 'import os, time
while os.path.exists("going"):
    with open("new", "w") as file:
        file.write("planted\n")
    os.rename("new", ".env")
    time.sleep(0.002)' 3>&- &
        writer=$!
        CHILDREN+=("$writer")
        in_covers 'cat .env; echo tried' .env
        rm going
        wait "$writer"
        go_on
        [[ $output != *planted* ]] || leak "open in round $round"
        [[ $output == *tried* ]] || report "did not try"
    done
}

# The jail is already built, and not dumpable any more, before the supervisor continues.
@test "a file that is replaced is covered also if the supervisor is delayed after it made the jail" {
    JAIL=(--backend native)
    local program=$SBX_PROGRAM
    SBX_PROGRAM=$BATS_TEST_TMPDIR/late
    printf '#!/bin/sh\nexec strace -qq -o %s -e trace=clone3 -e inject=clone3:delay_exit=100000 %s "$@"\n' "$SBX_PROGRAM.trace" "$program" >"$SBX_PROGRAM"
    chmod +x "$SBX_PROGRAM"
    in_covers "$TRIES" .env .git/config .envrc
    SBX_PROGRAM=$program
    replace_outside
    go_on
    grep -q 'CLONE_NEWNS.*DELAYED' "$BATS_TEST_TMPDIR/late.trace" || report "it was not late"
    [[ $output != *planted* && $output != *written* && $output != *made* ]] || leak "something was open"
    [[ $output == *tried* ]] || report "did not try"
}

# The process that mounts the covers again, its pidfd of the jail and the message with the descriptors must exist before the command
# starts.
@test "a jail without a working keeper runs nothing" {
    JAIL=(--backend native --network isolated)
    local fault
    for fault in clone:error=EAGAIN pidfd_open:error=EMFILE sendmsg:error=EPIPE; do
        run strace -qq -o "$BATS_TEST_TMPDIR/trace" -e trace="${fault%%:*}" -e inject="$fault" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- echo ran
        grep -q INJECTED "$BATS_TEST_TMPDIR/trace" || report "$fault was not met"
        [[ $status == 125 && ${#lines[@]} == 1 && $output == "agent-sandbox: "*@("looks after the session"|"watch over the jail")* ]] || report "$fault"
    done
    prints ran in_jail echo ran
}

# The kernel limits the number of inotify watches per user. Without watches the keeper polls every second.
@test "without inotify a replaced file is covered a moment later" {
    JAIL=(--backend native)
    local program=$SBX_PROGRAM inotify_init1=294
    [[ $(uname -m) == x86_64 ]] || inotify_init1=26
    SBX_PROGRAM=$BATS_TEST_TMPDIR/without_watches
    printf '#!/bin/sh\nexec python3 %s/without_call.py %s %s "$@"\n' "$BATS_TEST_DIRNAME" "$inotify_init1" "$program" >"$SBX_PROGRAM"
    chmod +x "$SBX_PROGRAM"
    in_covers "$TRIES" .env .git/config .envrc
    SBX_PROGRAM=$program
    need keeper
    [[ $(readlink "/proc/$FOUND"/fd/*) != *inotify* ]] || report "it has watches"
    replace_outside
    go_on
    [[ $output != *planted* && $output != *written* && $output != *made* ]] || leak "something was open"
    [[ $output == *tried* ]] || report "did not try"
}

# Another process may remove placeholders at any moment of a session: at its start, which then fails with a message, or at its end.
@test "placeholders that are removed all the time leave nothing behind" {
    local before writer round failed=0
    echo ".env" >.git/info/exclude
    before=$(find . -path ./going -prune -o -path ./.git/objects -prune -o -print | sort)
    touch going
    # The pauses grow, so that a launch succeeds in the end, however slow the machine is.
    python3 -c 'import contextlib, os, time
pause = 0.02
while os.path.exists("going"):
    for name in ".envrc", ".claude", ".vscode", ".codex":
        with contextlib.suppress(OSError):
            os.rmdir(name)
    time.sleep(pause)
    pause *= 1.02' 3>&- &
    writer=$!
    CHILDREN+=("$writer")
    for round in $(seq 40); do
        run in_jail true
        ((status == 0)) || { [[ $status == 125 ]] || report "it ended with $status"; failed=$((failed + 1)); }
    done
    rm going
    wait "$writer"
    ((failed < 40)) || report "no session came to run"
    # The keeper of the last session may still be running.
    is_as_before() { [[ $(find . -path ./.git/objects -prune -o -print | sort) == "$before" ]]; }
    wait_until is_as_before || { diff <(echo "$before") <(find . -path ./.git/objects -prune -o -print | sort) >&2; return 1; }
    works in_jail true
    wait_until is_as_before
}
