#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The sandbox's own configuration and state, where the jail can write around them: no process in the jail can change or create them
# or a directory above them, or move one aside and put another in its place.

load helper

setup() { start_test; }
teardown() { end_test; }

# Each directory can be moved outside, and can't be moved from inside.
expect_unmovable() {
    local directory
    for directory in "$@"; do
        works mv "$directory" "$directory.aside"
        works mv "$directory.aside" "$directory"
        fails "busy" in_jail mv "$directory" "$directory.aside"
        fails "busy" in_jail python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[1] + ".aside")' "$directory"
        works test -d "$directory"
        fails "" test -e "$directory.aside"
    done
}

# plants DIRECTORY [RUNNER...]: creates the directory if it is missing, and a file in it.
plants() {
    local directory=$1
    shift
    "$@" sh -c 'mkdir -p "$1" && echo planted >"$1/planted"' sh "$directory"
}

# Inside, the file may seem to exist, in the tmpfs that covers a hidden directory. Afterwards it must not exist on the host.
expect_unplantable() {
    local directory
    for directory in "$@"; do
        works plants "$directory"
        works rm "$directory/planted"
        run plants "$directory" in_jail
        [[ ! -e $directory/planted ]] || leak "was planted: $directory"
    done
}

# bats test_tags=smoke
@test "in a writable home no directory above the sandbox's own files can be moved" {
    JAIL=(--home write)
    mkdir -p ~/.config/agent-sandbox
    printf '# mine' >~/.config/agent-sandbox/config.toml
    works in_jail true
    expect_unmovable ~/.config ~/.config/agent-sandbox ~/.local ~/.local/state
    fails "busy" in_jail mv ~/.local/state/agent-sandbox ~/.local/state/aside
    expect_unwritable ~/.config/agent-sandbox/config.toml
    expect_unplantable ~/.config/agent-sandbox/conf.d ~/.local/state/agent-sandbox/trust
    # The agent may write everything else in these directories.
    works in_jail_sh 'mkdir -p ~/.config/other ~/.local/share && mv ~/.config/other ~/.config/another && echo x >~/.local/share/file'
    works test -d ~/.config/another -a -s ~/.local/share/file
}

@test "in a writable home the first session can't make the sandbox's own files" {
    works plants ~/.config/agent-sandbox
    works plants ~/.local/state/agent-sandbox/trust
    empty_home
    mkdir "$PROJECT" && cd "$PROJECT"
    JAIL=(--home write)
    fails "Read-only file system" plants ~/.config/agent-sandbox in_jail
    fails "" test -e ~/.config
    fails "Read-only file system" plants ~/.local/state/agent-sandbox/trust in_jail
    fails "" test -e ~/.local/state/agent-sandbox/trust
    # A directory that the agent adds beside it stays.
    works plants ~/.config/other in_jail
    prints planted cat ~/.config/other/planted
    fails "" test -e ~/.config/agent-sandbox
}

@test "the sandbox's own files are held in directories of --rw" {
    mkdir -p ~/.config/agent-sandbox ~/.local/share
    printf '# mine' >~/.config/agent-sandbox/config.toml
    JAIL=(--rw "$HOME/.config" --rw "$HOME/.local")
    works in_jail true
    expect_unmovable ~/.config/agent-sandbox ~/.local/state
    expect_unwritable ~/.config/agent-sandbox/config.toml
    expect_unplantable ~/.local/state/agent-sandbox/trust
}

@test "the sandbox's own files are held in the project" {
    export XDG_CONFIG_HOME=$PROJECT/own/config XDG_STATE_HOME=$PROJECT/own/state
    works in_jail true
    mkdir -p own/config/agent-sandbox
    printf '# mine' >own/config/agent-sandbox/config.toml
    expect_unmovable "$PROJECT/own" "$PROJECT/own/config" "$PROJECT/own/config/agent-sandbox" "$PROJECT/own/state"
    expect_unwritable "$PROJECT/own/config/agent-sandbox/config.toml"
    expect_unplantable "$PROJECT/own/state/agent-sandbox/trust"
}

@test "configuration behind a symbolic link is held where it is" {
    mkdir -p ~/.config/agent-sandbox deep
    printf '# mine' >deep/sandbox.toml
    ln -s "$PROJECT/deep/sandbox.toml" ~/.config/agent-sandbox/config.toml
    expect_unwritable "$PROJECT/deep/sandbox.toml"
    expect_unmovable "$PROJECT/deep"
}

@test "configuration behind a link that the jail could exchange is refused" {
    mkdir -p ~/elsewhere
    ln -s elsewhere ~/.config
    works in_jail true
    JAIL=(--home write)
    refused 125 "$HOME/.config is a symbolic link" in_jail true
}

@test "no option makes the sandbox's own files writable" {
    mkdir -p ~/.config/agent-sandbox/conf.d
    JAIL=(--rw "$HOME/.config/agent-sandbox/conf.d")
    refused 125 "conf.d can't be writable" in_jail true
    JAIL=(--project "$HOME/.config/agent-sandbox")
    refused 125 "can't be a writable project" in_jail true
    JAIL+=(--read-only)
    works in_jail true
}
