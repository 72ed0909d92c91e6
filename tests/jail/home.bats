#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The four home modes: which real files are visible, where writes go, and what the host keeps.

load helper

setup() {
    start_test
    echo "a note" >"$HOME/notes.txt"
    echo "# start-up" >"$HOME/.bashrc"
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/.cache"
    printf '[home]\nwritable = [".kept"]\n' >"$HOME/.config/agent-sandbox/config.toml"
}
teardown() { end_test; }

# bats test_tags=smoke
@test "tmpwrite: listed files are visible, others are not" {
    expect_readable "$HOME/.bashrc"
    expect_hidden "$HOME/notes.txt"
}

# bats test_tags=smoke
@test "tmpwrite: writes go anywhere in the home directory and are gone afterwards" {
    works in_jail_sh 'echo x >"$HOME/new" && mkdir -p "$HOME/deep/er" && cat "$HOME/new"'
    fails "" test -e "$HOME/new"
    fails "" test -e "$HOME/deep"
}

@test "tmpwrite: a listed file can't be changed" {
    expect_unwritable "$HOME/.bashrc"
}

@test "restricted: listed files are visible, writes are refused" {
    JAIL=(--home restricted)
    expect_readable "$HOME/.bashrc"
    expect_hidden "$HOME/notes.txt"
    works touch "$HOME/new"
    rm "$HOME/new"
    fails "" in_jail touch "$HOME/new"
    expect_unwritable "$HOME/.bashrc"
}

@test "read: everything but credentials is visible, writes are refused" {
    JAIL=(--home read)
    expect_readable "$HOME/notes.txt"
    expect_unwritable "$HOME/notes.txt"
    fails "Read-only file system" in_jail touch "$HOME/new"
}

@test "write: everything but credentials is visible and writable, and stays" {
    JAIL=(--home write)
    expect_readable "$HOME/notes.txt"
    expect_writable "$HOME/notes.txt"
    works in_jail touch "$HOME/new"
    works test -e "$HOME/new"
}

@test "home.writable is kept in every mode, and made where it is missing" {
    for mode in tmpwrite restricted read write; do
        JAIL=(--home "$mode")
        rm -rf "$HOME/.kept"
        works in_jail_sh 'echo "$1" >"$HOME/.kept/file"' "$mode"
        prints "$mode" cat "$HOME/.kept/file"
    done
}

@test "home.seeded is a private copy: readable, writable, discarded" {
    printf '[user]\n\tname = Ann\n[credential]\n\thelper = store --file /secret\n' >"$HOME/.gitconfig"
    cp "$HOME/.gitconfig" "$HOME/.gitconfig.before"
    prints Ann in_jail git config --global user.name
    works in_jail git config --global user.name Eve
    works cmp "$HOME/.gitconfig" "$HOME/.gitconfig.before"
}

@test "the seeded .gitconfig carries no secret of a credential helper" {
    cat >"$HOME/.gitconfig" <<'CONFIG'
[user]
	name = Ann
[url "https://ann:planted-secret@example.org/"]
	insteadOf = https://example.org/
[http "https://example.org"]
	extraHeader = Authorization: Bearer planted-secret
[credential]
	helper = "!echo password=planted-secret"
CONFIG
    works grep -q planted-secret "$HOME/.gitconfig"
    works in_jail cat "$HOME/.gitconfig"
    [[ $output != *planted-secret* ]] || leak "a secret in the copy"
    [[ $output == *Ann* ]] || report "not a copy of it"
}

@test "an unknown mode is refused with the choices" {
    JAIL=(--home everything)
    refused 125 "tmpwrite" in_jail true
}
