#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Bad input: one clear line on standard error, exit 125 to 127, nothing runs, nothing is left behind.

load ../jail/helper

setup() {
    start_test
    CONFIG=$HOME/.config/agent-sandbox/config.toml
    mkdir -p "$(dirname "$CONFIG")"
}
teardown() { end_test; }

# refuses TEXT: with the state that the test prepared, a run fails with this text, runs nothing and leaves nothing.
refuses() {
    local before
    before=$(home_listing)
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ $(home_listing) == "$before" ]] || report "something was left behind"
}

# bats test_tags=smoke
@test "an unknown key, with file, line and the nearest name" {
    printf '[project]\n\nread_onyl = true\n' >"$CONFIG"
    refuses "config.toml:3"
    [[ $stderr == *read_only* ]] || report "no suggestion"
}

@test "an unknown section" {
    printf '[projct]\nread_only = true\n' >"$CONFIG"
    refuses "projct"
}

@test "a wrong type" {
    printf '[project]\nread_only = "yes"\n' >"$CONFIG"
    refuses "config.toml:2"
    [[ $stderr == *"true or false"* ]] || report "does not say what is expected"
}

@test "an unknown value, with the nearest choice" {
    printf '[home]\naccess = "tmpwrit"\n' >"$CONFIG"
    refuses tmpwrite
}

@test "a duplicate key" {
    printf '[home]\naccess = "read"\naccess = "write"\n' >"$CONFIG"
    refuses "config.toml:3"
}

@test "broken TOML" {
    printf '[home\naccess = \n' >"$CONFIG"
    refuses "config.toml:1"
}

@test "a user file that can't be read" {
    echo >"$CONFIG"
    chmod 0000 "$CONFIG"
    refuses "config.toml"
}

@test "an unknown option, with the nearest one" {
    JAIL=(--read-onyl)
    refuses "--read-only"
}

@test "an option without its value" {
    refused 125 "--project" "$SBX_PROGRAM" --project
}

@test "an unknown AGENT_SANDBOX_ variable" {
    export AGENT_SANDBOX_NETWRK_MODE=open
    refuses AGENT_SANDBOX_NETWRK_MODE
}

@test "the home directory as project" {
    cd "$HOME"
    refuses "home directory"
}

@test "the root directory and an ancestor of the home directory as project" {
    JAIL=(--project /)
    refuses "/"
    JAIL=(--project "$(dirname "$HOME")")
    refuses "home"
}

@test "a directory that contains credentials as project" {
    mkdir -p "$HOME/mixed/.ssh"
    echo key >"$HOME/mixed/.ssh/id_ed25519"
    JAIL=(--project "$HOME/.ssh")
    mkdir -p "$HOME/.ssh"
    refuses ".ssh"
}

@test "a project that is not below an allowed parent" {
    mkdir -p "$HOME/allowed" "$HOME/allowedtoo"
    printf '[project]\nparents = ["~/allowed"]\n' >"$CONFIG"
    refuses "$PROJECT"
    JAIL=(--project "$HOME/allowedtoo")
    refuses allowedtoo
}

@test "a project that does not exist, or is a file" {
    JAIL=(--project "$HOME/nowhere")
    refuses nowhere
    echo x >"$HOME/file"
    JAIL=(--project "$HOME/file")
    refuses file
}

@test "a mount source that does not exist" {
    local flag
    for flag in --ro --rw; do
        JAIL=("$flag" "$HOME/nowhere")
        refuses nowhere
    done
}

@test "a loop of symbolic links" {
    ln -s one "$HOME/two"
    ln -s two "$HOME/one"
    JAIL=(--ro "$HOME/one")
    refuses one
    JAIL=(--project "$HOME/one")
    refuses one
}

@test "a rule for a path with a newline, in one printable line" {
    mkdir "$HOME/new"$'\n'"line"
    JAIL=(--ro "$HOME/new"$'\n'"line")
    refuses 'new\x0aline'
}

@test "a rule for a path with bytes that are not UTF-8 works; one with an escape sequence is shown printable" {
    mkdir "$HOME/"$'bytes\xff'
    echo content >"$HOME/"$'bytes\xff/file'
    JAIL=(--ro "$HOME/"$'bytes\xff')
    prints content in_jail cat "$HOME/"$'bytes\xff/file'
    JAIL=(--ro "$HOME/"$'nothing\xff\e[31m')
    refuses '\x'
    [[ $stderr != *$'\e'* && $stderr != *$'\xff'* ]] || leak "raw bytes reach the terminal"
}

@test "a project whose name has a newline, bytes or an escape sequence works" {
    local name
    for name in $'a\nb' $'a\xffb' $'a\e[31mb'; do
        mkdir "$HOME/$name"
        cd "$HOME/$name"
        works in_jail touch made
        works test -e "$HOME/$name/made"
    done
}

@test "a command that is missing, not executable, a directory or empty" {
    refused 127 "no-such-command" in_jail no-such-command
    touch plain
    refused 126 "plain" in_jail ./plain
    refused 126 "" in_jail /usr
    refused 127 "" in_jail ""
}

@test "a script whose interpreter is missing" {
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    refused 127 "script" in_jail ./script
}

@test "a backend that is not known" {
    JAIL=(--backend chroot)
    refuses bwrap
}

@test "a level that can't be reached is refused before anything runs" {
    JAIL=(--require hidden)
    refuses privileges
    JAIL=(--require denied)
    works in_jail true
}

@test "a project file may not widen" {
    printf '[network]\nmode = "open"\n' >.agent-sandbox.toml
    refuses ".agent-sandbox.toml:2"
    works "$SBX_PROGRAM" trust
    works in_jail true
    echo '# changed' >>.agent-sandbox.toml
    refuses ".agent-sandbox.toml:2"
}

@test "a project file may narrow" {
    printf '[project]\nread_only = true\n' >.agent-sandbox.toml
    fails "Read-only file system" in_jail touch new
}
