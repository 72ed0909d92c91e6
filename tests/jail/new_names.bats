#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Protected names of tools that the user does not have: no placeholder holds them. What a session leaves there is moved out of the
# project at the end, is named, and comes back with `agent-sandbox release`.

load helper
load process_faults

setup_file() { export BATS_TEST_TIMEOUT=300; }
setup() {
    start_test
    BIN=$BATS_TEST_TMPDIR/bin
    mkdir "$BIN"
    STATE=$HOME/.local/state/agent-sandbox
}
teardown() {
    chmod -R u+rwx "$HOME" # a test leaves directories that can't be read
    rm -rf "/dev/shm/state-$SBX_USER"
    end_test
}

# A user without any of the tools: PATH has only $BIN. Inside, the usual programs are found.
bare_jail() { PATH=$BIN "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- /bin/sh -c "PATH=/usr/bin:/bin; $1" sh "${@:2}"; }

sees() { bare_jail "$1" 2>/dev/null; } # some backends print what they do not enforce

start_bare_jail() {
    local path=$PATH
    export PATH=$BIN
    ATTENTIVE=(/usr/bin/env --default-signal=HUP,INT,QUIT)
    PATH=$path rm -f ready
    "${ATTENTIVE[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- /bin/sh -c "PATH=/usr/bin:/bin; $1" sh \
        </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    export PATH=$path
    CHILDREN+=("$SUPERVISOR")
    wait_until test -e ready || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

# Where the backend works on this machine.
backends() {
    local backend
    for backend in native bwrap firejail landlock; do
        ! "$SBX_PROGRAM" --quiet --backend "$backend" -- true 2>/dev/null || echo "$backend"
    done
}

release() { PATH=$BIN "$SBX_PROGRAM" release "$@"; }

is_gone() { [[ ! -e $1 && ! -L $1 ]]; }

# bats test_tags=smoke
@test "an empty project of a user without the tools shows nothing new, inside, outside, meanwhile and afterwards" {
    local backend
    for backend in $(backends); do
        JAIL=(--backend "$backend")
        prints "" sees 'ls -A'
        prints "" ls -A
        start_bare_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; rm go'
        prints ready ls -A
        touch go
        end_of_jail
        rm ready
        prints "" ls -A
    done
    # The control: all names are held.
    export AGENT_SANDBOX_PROJECT_HOLD=all
    works bare_jail 'ls -A'
    [[ $output == *.vscode* && $output == *opencode.json* ]] || report "not held"
}

@test "why path says of a name that is not held that it is moved at the end, outside and inside, and of no other name" {
    local expected=": writable now, moved out of the project when the session ends" path
    for path in .codex .codex/config.toml .envrc; do
        PATH=$BIN works "$SBX_PROGRAM" why path "$path" --write
        [[ $output == *"$path$expected"*"'agent-sandbox release' puts it back"* ]] || report "outside: $path"
        # Inside, before and after it exists.
        works bare_jail '"$1" why path "$2" --write && mkdir -p "$(dirname "$2")" && echo 1 >"$2" && "$1" why path "$2" --write' "$SBX_PROGRAM" "$path"
        [[ $(grep -c "$expected" <<<"$output") == 2 ]] || report "inside: $path"
        fails "" test -e "$path"
        release --remove "$path" --yes >/dev/null 2>&1 || true
    done
    PATH=$BIN works "$SBX_PROGRAM" why path src/main.c --write
    [[ $output != *"moved out"* ]] || report "another name"
    # A name that is held can't be written.
    ln -s /bin/true "$BIN/codex"
    PATH=$BIN fails readable "$SBX_PROGRAM" why path .codex --write
}

@test "a name is held for a tool on the PATH, or with settings in the home directory" {
    works bare_jail 'echo run >.envrc'
    ln -s /bin/true "$BIN/direnv"
    fails "" bare_jail 'echo run >.envrc'
    works bare_jail 'test -d .envrc && ! test -e .vscode'
    rm "$BIN/direnv"
    mkdir -p "$HOME/.config/direnv"
    fails "" bare_jail 'echo run >.envrc'
    rmdir "$HOME/.config/direnv"
    works bare_jail 'echo run >.envrc'
    prints "" ls -A
}

@test "a name that the user lists in project.protect is held without a tool" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nprotect = ["deploy.sh"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    fails "" bare_jail 'echo run >deploy.sh'
}

# bats test_tags=smoke
@test "what a session leaves at such a name is moved out of the project, named, and comes back byte for byte" {
    local backend
    for backend in $(backends); do
        JAIL=(--backend "$backend")
        works bare_jail 'mkdir -p .vscode/deep .claude/hooks; printf "a\0b\n" >.envrc; chmod 751 .envrc
            echo tasks >.vscode/tasks.json; ln -s ../x .vscode/deep/link; echo hook >.claude/hooks/run; echo mine >.claude/notes'
        [[ $output == *".envrc is new and was moved out of the project: run by direnv"*"agent-sandbox release .envrc"* ]] || report "not named"
        [[ $output == *.vscode* && $output == *.claude/hooks* ]] || report "not named"
        is_gone .envrc
        is_gone .vscode
        is_gone .claude/hooks
        prints mine cat .claude/notes
        works release
        [[ $output == *"~/project/.envrc"*"run by direnv"* ]] || report "not listed"
        fails "add --yes" release .envrc
        is_gone .envrc
        works release .envrc --yes </dev/null
        [[ $output == *".envrc (4 bytes): run by direnv when a shell enters"* ]] || report "what would run it is not shown"
        printf 'a\0b\n' | cmp - .envrc
        [[ $(stat -c %a .envrc) == 751 ]]
        works release "$PROJECT/.vscode" --yes
        prints tasks cat .vscode/tasks.json
        [[ $(readlink .vscode/deep/link) == ../x ]]
        works release .claude/hooks --yes
        prints hook cat .claude/hooks/run
        prints "nothing was moved out of a project" release
        # In the next session it is a name that exists.
        works bare_jail true
        works test -e .envrc
        rm -rf .envrc .vscode .claude
    done
}

@test "release overwrites nothing, removes on request, and what was not asked for is kept 30 days" {
    works bare_jail 'echo planted >.envrc'
    echo mine >.envrc
    fails "exists: nothing was changed" release .envrc --yes
    prints mine cat .envrc
    rm .envrc
    works release .envrc --remove --yes
    prints "nothing was moved out of a project" release
    fails "was not moved out of a project" release .envrc --yes
    works bare_jail 'echo planted >.envrc'
    [[ $(stat -c %a "$STATE/aside") == 700 ]]
    touch -d '29 days ago' "$STATE"/aside/*
    works bare_jail 'echo planted >opencode.json'
    wait_until no_keeper
    works release
    [[ $output == *.envrc*  ]] || report "removed too early"
    touch -d '31 days ago' "$STATE"/aside/*
    works bare_jail true
    wait_until is_empty "$STATE/aside"
}
no_keeper() { ! pgrep -u "$(id -u)" -x asb-keeper >/dev/null; }
is_empty() { [[ -z $(ls -A "$1") ]]; }

@test "a name that exists at the start stays, also if it is replaced outside meanwhile" {
    echo mine >.envrc
    mkdir .vscode
    echo mine >.vscode/tasks.json
    # The keeper covers the new file a moment later. Without a cover the file stays writable, and the write succeeds.
    start_bare_jail 'touch ready; until [ -e go ]; do sleep 0.02; done
        for i in $(seq 1000); do [ -w .envrc ] || break; sleep 0.02; done; echo inside >.envrc; rm go'
    echo newer >.envrc.new
    mv .envrc.new .envrc
    touch go
    end_of_jail
    prints newer cat .envrc
    prints mine cat .vscode/tasks.json
    prints "nothing was moved out of a project" release
}

@test "links in the place of a name or of its parents are moved, and nothing that they lead to" {
    mkdir elsewhere
    works bare_jail 'echo planted >elsewhere/settings.json; ln -s elsewhere .claude; ln -s /etc/passwd .envrc; ln -s missing .vscode'
    is_gone .claude
    is_gone .envrc
    is_gone .vscode
    prints planted cat elsewhere/settings.json
    works release .envrc --yes
    [[ -L .envrc && $(readlink .envrc) == /etc/passwd ]]
    works test -s /etc/passwd
}

@test "no mode of a file or directory keeps it in the project" {
    works bare_jail 'mkdir -p .vscode .claude/hooks; echo a >.vscode/tasks.json; echo b >.claude/hooks/run; chmod 0 .vscode/tasks.json .vscode .claude/hooks .claude
        mkdir .kiro; chmod 0555 .kiro; echo c >.envrc; chmod 0 .envrc'
    is_gone .vscode
    is_gone .kiro
    is_gone .envrc
    is_gone .claude
    works release .vscode --yes
    [[ $(stat -c %a .vscode) == 0 ]]
    chmod 700 .vscode
    chmod 600 .vscode/tasks.json
    prints a cat .vscode/tasks.json
}

@test "a mode of the project's own directory keeps no name in it, and stays as the session set it" {
    local backend mode
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        for mode in 555 100 0; do
            works bare_jail 'mkdir -p .vscode .claude; echo a >.vscode/tasks.json; echo b >.envrc; echo "[" >.agent-sandbox.toml
                echo "{}" >.claude/settings.json; echo mine >kept; chmod '"$mode"' .'
            [[ $output == *".vscode is new and was moved out of the project"* ]] || report "not named"
            [[ $(stat -c %a "$PROJECT") == "$mode" ]]
            chmod 755 "$PROJECT"
            prints kept ls -A
            works bare_jail true
            works release .envrc --remove --yes
            works release .vscode --remove --yes
        done
    done
}

@test "names that the session took first do not keep a protected one in the project" {
    works bare_jail true
    export XDG_STATE_HOME=/dev/shm/state-$SBX_USER
    works bare_jail 'seq -f ".agent-sandbox.aside-%.0f-vscode" 12000 | xargs touch; mkdir .vscode; echo tasks >.vscode/tasks.json'
    is_gone .vscode
    works release .vscode --yes
    prints tasks cat .vscode/tasks.json
    # More than is copied at the end: it stays under a name that the session could not foresee.
    rm -r .vscode
    works bare_jail 'mkdir .vscode; cd .vscode; seq 5000 | xargs touch'
    [[ $output =~ ".vscode is new and was renamed to .agent-sandbox.aside-"[0-9]{6,}-vscode ]] || report "not named"
    is_gone .vscode
}

@test "release shows every file, opens shut directories to look at them, and puts nothing back that it can't show" {
    works bare_jail 'mkdir -p .vscode/deep; seq -f ".vscode/deep/f%.0f" 50 | xargs touch; echo tasks >.vscode/tasks.json; chmod 311 .vscode/deep .vscode'
    fails "add --yes" release .vscode
    [[ $output == *".vscode/tasks.json (6 bytes)"* && $output == *.vscode/deep/f1\ * && $output == *.vscode/deep/f50\ * ]] || report "not shown"
    works release .vscode --yes
    [[ $(stat -c %a .vscode .vscode/deep | tr '\n' ' ') == "311 311 " ]]
    prints tasks cat .vscode/tasks.json
    chmod -R 755 .vscode
    rm -r .vscode
    works bare_jail 'mkdir .vscode; cd .vscode; seq 100001 | xargs touch'
    fails "more than 100000 files" release .vscode --yes
    is_gone .vscode
    works release .vscode --remove --yes
}

@test "a broken file of the project ends the start with the command that removes it" {
    echo "[" >.agent-sandbox.toml
    fails "remove it if it is not yours: 'rm $PROJECT/.agent-sandbox.toml'" bare_jail true
    rm .agent-sandbox.toml
    works bare_jail true
}

@test "a hard link comes back as a file of its own" {
    works bare_jail 'echo first >script; ln script .envrc'
    is_gone .envrc
    works release .envrc --yes
    prints first cat .envrc
    works bare_jail 'echo second >script'
    prints second cat script
    prints first cat .envrc
}

@test "a directory with many thousand entries is moved as fast as any other" {
    works bare_jail 'mkdir .vscode; cd .vscode; seq 100000 | xargs touch'
    is_gone .vscode
    works release
    [[ $output == *.vscode* ]] || report "not listed"
}

@test "a process that lives on and exchanges names leaves nothing at the name" {
    cat >exchange.py <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
read_end, write_end = os.pipe()
if os.fork():
    os.read(read_end, 1)
    os._exit(0)
os.setsid()
open("other", "w").write("one")
open(".envrc", "w").write("two")
count = 0
while True:
    libc.renameat2(-100, b".envrc", -100, b"other", 2)
    count += 1
    if count == 100: os.write(write_end, b"!")
END
    local round
    for round in 1 2 3; do
        works bare_jail 'exec python3 exchange.py'
        is_gone .envrc
        works test -e other
        works release .envrc --remove --yes
    done
}

@test "after the supervisor is killed, the keeper moves the name" {
    start_bare_jail 'echo planted >.envrc; touch ready; sleep 1000'
    wait_until has_process keeper
    kill -KILL "$SUPERVISOR"
    end_of_jail
    wait_until is_gone .envrc
    works release .envrc --yes
    prints planted cat .envrc
}

@test "of several sessions in one project the last one moves the name, whichever that is" {
    local order first second
    for order in "1 2" "2 1"; do
        read -r first second <<<"$order"
        start_bare_jail 'echo planted >.envrc; touch ready; until [ -e go1 ]; do sleep 0.02; done'
        local session_1=$SUPERVISOR
        # It starts when the name exists already.
        start_bare_jail 'touch ready; until [ -e go2 ]; do sleep 0.02; done'
        local session_2=$SUPERVISOR
        fails "would move it away again" test_release_while_watched
        touch "go$first"
        local process=session_$first
        wait "${!process}"
        prints planted cat .envrc
        touch "go$second"
        process=session_$second
        wait "${!process}"
        is_gone .envrc
        rm -f go1 go2 ready
        works release .envrc --remove --yes
    done
}
# The name of another entry with the same path: a session watches it.
test_release_while_watched() {
    mkdir -p "$STATE/aside/0-1"
    printf '%s\0' "$PROJECT/.envrc" "$PROJECT" why 0 0 "$STATE/aside/0-1/item" >"$STATE/aside/0-1/about"
    echo old >"$STATE/aside/0-1/item"
    release 0-1 --yes
    local status=$?
    rm -r "$STATE/aside/0-1"
    return "$status"
}

@test "a name whose session was killed with its keeper is covered in the next one" {
    start_bare_jail 'echo planted >.envrc; touch ready; sleep 1000'
    need keeper
    # Stopped first: neither sees the death of the other.
    kill -STOP "$FOUND" "$SUPERVISOR"
    kill -KILL "$FOUND" "$SUPERVISOR"
    end_of_jail
    # A session counts as running until the last of its processes has dropped the locks.
    soon nothing_runs || { left_processes >&2; return 1; }
    prints planted cat .envrc
    fails "" bare_jail 'echo inside >.envrc'
    prints planted cat .envrc
}

@test "a state directory on another file system gets a copy, and what it can't take stays under a name that no tool reads" {
    works bare_jail true
    export XDG_STATE_HOME=/dev/shm/state-$SBX_USER
    works bare_jail 'mkdir .vscode; echo tasks >.vscode/tasks.json; chmod 0 .vscode'
    is_gone .vscode
    prints "" ls -A
    works release .vscode --yes
    prints tasks sh -c 'chmod 700 .vscode; cat .vscode/tasks.json'
    rm -r .vscode
    # More than is copied at the end.
    works bare_jail 'mkdir .vscode; cd .vscode; seq 5000 | xargs touch'
    [[ $output == *".vscode is new and was renamed to .agent-sandbox.aside-1-vscode"* ]] || report "not named"
    is_gone .vscode
    works release .vscode --yes
    works test -e .vscode/5000
    prints .vscode ls -A
}

@test "if the state directory can't be written, the name is still free at the end, and nothing is lost" {
    works bare_jail true
    mkdir -p "$STATE/aside"
    chmod 500 "$STATE/aside"
    works bare_jail 'echo planted >.envrc'
    [[ $output == *".envrc is new and was renamed to .agent-sandbox.aside-1-envrc"* ]] || report "not named"
    is_gone .envrc
    prints planted cat .agent-sandbox.aside-1-envrc
    chmod 700 "$STATE/aside"
}

@test "with Claude on the PATH its worktrees work in a project without .claude, and its settings are held" {
    make_repository .
    git commit -q --allow-empty -m start
    ln -s /bin/true "$BIN/claude"
    local backend
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        works bare_jail 'git status --porcelain; ls -A .claude'
        works bare_jail true
        is_gone .claude
        works bare_jail 'git worktree add -q .claude/worktrees/a && echo work >.claude/worktrees/a/file'
        prints work cat .claude/worktrees/a/file
        fails "" bare_jail 'echo planted >.claude/settings.json'
        fails "" bare_jail 'echo planted >.claude/settings.local.json'
        fails "" bare_jail 'echo planted >.claude/hooks/run'
        fails "" bare_jail 'mv .claude aside'
        prints worktrees ls -A .claude
        git worktree remove --force .claude/worktrees/a
        git branch -q -D a
        rm -rf .claude
    done
}

@test "names in nested repositories are left to the review" {
    make_repository nested
    works bare_jail 'echo planted >nested/.envrc'
    prints planted cat nested/.envrc
}

@test "a project for reading has no such names" {
    JAIL=(--read-only)
    fails "Read-only file system" bare_jail 'echo planted >.envrc'
    prints "" ls -A
}

@test "the record and the plan name them" {
    works bare_jail 'echo planted >.envrc'
    works "$SBX_PROGRAM" log
    [[ $output == *cover*"project/.envrc: moved away"* ]] || report "not recorded"
    works env PATH="$BIN" "$SBX_PROGRAM" plan -- /bin/true
    [[ $output == *"moved out of the project at the end, if they appear"*"$PROJECT/.envrc"* ]] || report "not in the plan"
}
