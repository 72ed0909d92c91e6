#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A hidden, masked or protected name that appears while a session runs is covered when it appears.

load helper

setup() { start_test; }
teardown() { end_test; }

# in_late SCRIPT: starts a jail that waits until the file `look` exists and then runs SCRIPT.
in_late() {
    start_jail 'is_gone() { for name; do [ ! -s "$name" ] || { [ -d "$name" ] && [ -z "$(ls -A "$name" 2>/dev/null)" ]; } || return 1; done; }
        covered() { tries=0; until is_gone "$@" || [ $((tries += 1)) = 5000 ]; do sleep 0.02; done; }
        touch ready
        until [ -e look ]; do sleep 0.02; done
        '"$1"
}
go_on() {
    touch look
    end_of_jail
    rm -f look
    output=$(cat "$BATS_TEST_TMPDIR/jail.out")
}

# need_search: SEARCH gets the process of this session. One of the test before may still be ending.
need_search() { wait_until has_search || report "nothing searches"; }
has_search() {
    local keeper
    keeper=$(pgrep -P "$SUPERVISOR" -x asb-keeper) && SEARCH=$(pgrep -P "$keeper" -x asb-search)
}

# The process that searches ends with its parent, the keeper.
kill_keeper() {
    need_search
    kill -KILL "$(pgrep -P "$SUPERVISOR" -x asb-keeper)"
    is_gone() { [[ ! -e /proc/$SEARCH || $(awk '/^State:/ { print $2 }' "/proc/$SEARCH/status" 2>/dev/null) == [ZX] ]]; }
    wait_until is_gone
}

masks_late() {
    JAIL=(--backend "$1")
    mkdir -p a/b
    in_late 'covered .env a/b/.env new/dir/.env moved/in/.env; cat .env a/b/.env new/dir/.env moved/in/.env; mv new other; echo tried'
    echo "KEY=planted" >.env
    echo "KEY=planted" >a/b/new && mv a/b/new a/b/.env
    mkdir -p new/dir && echo "KEY=planted" >new/dir/.env
    mkdir -p "$HOME/elsewhere/in" && echo "KEY=planted" >"$HOME/elsewhere/in/.env" && mv "$HOME/elsewhere" moved
    prints "KEY=planted" cat new/dir/.env
    go_on
    [[ $output != *planted* ]] || leak "open"
    [[ $output == *tried* ]] || report "did not try"
    [[ $output == *busy* ]] || leak "its directory could be moved"
}

@test "a masked name that is made outside is covered, at every depth" {
    masks_late native
}

@test "bubblewrap: a masked name that is made outside is covered" {
    masks_late bwrap
}

# Linux before 5.12 has no mount_setattr, and before 6.15 no open_tree_attr.
@test "without mount_setattr, a masked name that is made outside is covered" {
    local without="$BATS_TEST_DIRNAME/without_call.py"
    printf '#!/bin/sh\nexec python3 %s 442 python3 %s 467 %s "$@"\n' "$without" "$without" "$SBX_PROGRAM" >"$BATS_TEST_TMPDIR/old"
    chmod 755 "$BATS_TEST_TMPDIR/old"
    prints ENOSYS python3 "$without" 442 "${CALL[@]}" mount_setattr 0 0 0 0 0
    SBX_PROGRAM=$BATS_TEST_TMPDIR/old
    masks_late native
    rm -r .env a new moved
    masks_late bwrap
}

# The control: without the keeper, no process covers the file.
@test "control: without the keeper a masked name that is made outside is readable" {
    in_late 'sleep 0.5; cat .env; echo tried'
    kill_keeper
    echo "KEY=planted" >.env
    go_on
    [[ $output == *planted* ]] || report "it was covered all the same"
}

@test "names of mounts.hidden are covered, also where their directories appear first" {
    mkdir -p "$HOME/data"
    JAIL=(--ro "$HOME/data" --hide "$HOME/data/raw" --hide "$HOME/data/deep/er/raw" --hide "$PROJECT/later")
    in_late 'covered later "$HOME/data/raw/x" "$HOME/data/deep/er/raw/x"; cat later "$HOME/data/raw/x" "$HOME/data/deep/er/raw/x"; echo tried'
    echo planted >later
    mkdir "$HOME/data/raw" && echo planted >"$HOME/data/raw/x"
    mkdir -p "$HOME/data/deep/er/raw" && echo planted >"$HOME/data/deep/er/raw/x"
    go_on
    [[ $output != *planted* ]] || leak "open"
    [[ $output == *tried* ]] || report "did not try"
}

@test "credentials that appear in a visible home are covered" {
    local home
    for home in read write; do
        JAIL=(--home "$home")
        in_late 'covered "$HOME/.netrc" "$HOME/.aws" "$HOME/.cargo/credentials.toml"; cat "$HOME/.netrc" "$HOME/.aws/config" "$HOME/.cargo/credentials.toml"; echo tried'
        echo planted >"$HOME/.netrc"
        mkdir -p "$HOME/.aws" "$HOME/.cargo" && echo planted >"$HOME/.aws/config" || true
        echo planted >"$HOME/.cargo/credentials.toml"
        go_on
        [[ $output != *planted* ]] || leak "--home $home: open"
        [[ $output == *tried* ]] || report "did not try"
        rm -rf "$HOME/.netrc" "$HOME/.aws" "$HOME/.cargo"
    done
}

@test "names that match a protected wildcard are covered" {
    in_late 'until ! touch .husky/x 2>/dev/null && ! { echo x >>a.code-workspace; } 2>/dev/null; do sleep 0.02; done; echo inside 2>&1 >.husky/pre-commit; echo tried'
    mkdir .husky && echo outside >.husky/pre-commit
    echo '{}' >a.code-workspace
    go_on
    [[ $output == *tried* && $output == *"Read-only file system"* ]] || leak "open"
    prints outside cat .husky/pre-commit
}

@test "why path answers inside with the current state" {
    echo "KEY=planted" >.env
    mkdir build && echo "KEY=planted" >build/.env
    local program=$SBX_PROGRAM
    JAIL=(--ro "$SBX_PROGRAM")
    in_late 'covered build/.env sub/.env; for file in .env build/.env sub/.env; do '"$program"' why path "$file"; done; '"$program"' why path build --write'
    mkdir sub && echo "KEY=planted" >sub/.env
    go_on
    [[ $(grep -c "reads as empty" <<<"$output") == 3 && $output != *hidden* ]] || report "not true"
}

@test "why path never reports a readable file as hidden" {
    local program=$SBX_PROGRAM
    mkdir "$HOME/data"
    JAIL=(--ro "$SBX_PROGRAM" --ro "$HOME/data" --hide "$HOME/data/raw")
    in_late 'cat "$HOME/data/raw"; '"$program"' why path "$HOME/data/raw"'
    kill_keeper
    echo planted >"$HOME/data/raw"
    go_on
    [[ $output == *planted*"readable at this moment"* && $output != *": hidden"* ]] || report "not true"
}

@test "a clone that the session makes stays writable, and can be removed" {
    make_repository source
    works in_jail_sh 'git clone -q source copy && sleep 0.3 && git -C copy -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m inside && rm -rf copy'
    works test ! -e copy
}

# A process that opened a directory before is below the mounts that pin it.
old_directories() {
    JAIL=(--backend "$1")
    start_jail '
        exec 8<late 9<late/deep
        cd other
        touch ../ready
        until [ -e ../look ]; do sleep 0.02; done
        for file in ../late/deep/.env ../other/.env; do
            tries=0
            until [ ! -s $file ] || [ $((tries += 1)) = 5000 ]; do sleep 0.02; done
        done
        cat /proc/self/fd/9/.env /proc/self/fd/8/deep/.env .env
        for place in /proc/self/fd/9 .; do ln $place/.env $place/again && echo linked; done
        echo tried'
    echo "KEY=planted" >late/deep/.env
    echo "KEY=planted" >other/.env
    go_on
    [[ $output != *planted* && $output != *linked* ]] || leak "$1: an old directory leads to the file"
    [[ $output == *tried* ]] || report "did not try"
    rm -f late/deep/.env other/.env
}

@test "a directory that is open from before leads to no name that appears later" {
    mkdir -p late/deep other
    old_directories native
    old_directories bwrap
}

@test "a repository that is found late can't be written through a directory that is open from before" {
    make_repository sub/dir
    mkdir -p "$HOME/away" && mv sub "$HOME/away/sub"
    start_jail '
        exec 9<.
        touch ready
        python3 -c "
import os, time
while True:
    try: hooks = os.open(\"sub/dir/.git/hooks\", os.O_RDONLY | os.O_DIRECTORY); break
    except OSError: pass
open(\"holds\", \"w\")
while not os.path.exists(\"look\"): time.sleep(0.02)
os.open(\"post-merge\", os.O_WRONLY | os.O_CREAT, 0o755, dir_fd=hooks)
" 2>/dev/null
        echo tried'
    # The process opens the directory before the search finds the repository.
    need_search
    kill -STOP "$SEARCH"
    mv "$HOME/away/sub" sub
    wait_until test -e holds
    kill -CONT "$SEARCH"
    # The script goes on when the process is dead. A living one would write now.
    wait_until grep -q tried "$BATS_TEST_TMPDIR/jail.out" || report "not killed"
    go_on
    [[ $output == *tried* && $output == *"had a repository open when it was made read-only, and was killed"* ]] || report "not killed"
    [[ ! -e sub/dir/.git/hooks/post-merge ]] || leak "written"
}

# ---- inotify, of which the kernel gives a user a limited number of instances and watches

limit_of() { cat "/proc/sys/fs/inotify/max_user_$1"; }

# take_outside MOST WATCHES: TAKEN gets the numbers of instances and watches. They are held until release_outside.
take_outside() {
    rm -f ready look
    python3 "$SBX_STAGE/tests/jail/take_watches.py" "$@" >"$BATS_TEST_TMPDIR/taken" 3>&- &
    TAKER=$!
    CHILDREN+=("$TAKER")
    wait_until test -e ready
    TAKEN=$(cat "$BATS_TEST_TMPDIR/taken")
}
release_outside() {
    touch look
    wait "$TAKER"
    rm -f look ready
}

leaves_watches() { # BACKEND
    local instances watches
    # The control. More watches than half of the limit would only take longer.
    take_outside 100 $(($(limit_of watches) / 2 + 1))
    release_outside
    read -r instances watches <<<"$TAKEN"
    [[ $instances == 100 ]] && ((watches > $(limit_of watches) / 2)) || report "outside: only $TAKEN"

    JAIL=(--backend "$1")
    mkdir "$HOME/second"
    start_jail 'exec python3 "$1/tests/jail/take_watches.py" 3000' "$SBX_STAGE"
    # A process outside writes to the file of standard output, so the line may come after `ready`.
    wait_until grep -q . "$BATS_TEST_TMPDIR/jail.out"
    read -r instances watches <"$BATS_TEST_TMPDIR/jail.out"
    ((instances == $(limit_of instances) / 4)) || report "inside: $instances instances"
    ((watches == $(limit_of watches) / 2)) || report "inside: $watches watches"
    # Another session can watch its project meanwhile.
    prints "" "$SBX_PROGRAM" --quiet --backend "$1" --project "$HOME/second" -- sleep 0.2
    echo "KEY=planted" >.env
    go_on
    # A search without a watch would have reported that at the end.
    [[ $output == "$instances $watches"$'\n'"content: " ]] || leak "open, or not watched"
}

@test "a command that takes all inotify instances and watches leaves some for the guards" { leaves_watches native; }

@test "bubblewrap: a command that takes all inotify instances and watches leaves some for the guards" { leaves_watches bwrap; }

@test "a session without an inotify instance reports it at the start" {
    take_outside 3000 0
    run "$SBX_PROGRAM" --quiet -- true
    [[ $status == 0 && $output == *"no inotify instance or watch left"*"raise the limits"* ]] || report "not reported"
    works "$SBX_PROGRAM" log
    [[ $output == *cover*"not watched: the user has no inotify instance"* ]] || report "not recorded"
    release_outside
    prints "" "$SBX_PROGRAM" --quiet -- true
}
