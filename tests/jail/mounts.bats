#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --ro, --rw and --hide: the most specific path wins, deny wins ties.

load helper

setup() {
    start_test
    DATA=$HOME/data
    mkdir -p "$DATA/inner/deep" "$DATA/other"
    echo one >"$DATA/file"
    echo two >"$DATA/inner/file"
    echo three >"$DATA/inner/deep/file"
    echo four >"$DATA/other/file"
}
teardown() { end_test; }

# bats test_tags=smoke
@test "control: without a rule the directory is absent" {
    expect_hidden "$DATA/file"
}

# bats test_tags=smoke
@test "--ro shows a directory, read-only" {
    JAIL=(--ro "$DATA")
    expect_readable "$DATA/file"
    expect_unwritable "$DATA/inner/file"
    fails "Read-only file system" in_jail touch "$DATA/new"
}

@test "--rw shows a directory, writable, and what is written stays" {
    JAIL=(--rw "$DATA")
    expect_writable "$DATA/file"
    works in_jail touch "$DATA/new"
    works test -e "$DATA/new"
}

@test "a single file can be shown" {
    JAIL=(--ro "$DATA/file")
    expect_readable "$DATA/file"
    expect_hidden "$DATA/inner/file"
}

@test "hidden inside visible" {
    for flag in --ro --rw; do
        JAIL=("$flag" "$DATA" --hide "$DATA/inner")
        expect_readable "$DATA/file"
        expect_unreadable "$DATA/inner/file"
        expect_unreadable "$DATA/inner/deep/file"
    done
}

@test "visible inside hidden inside visible" {
    JAIL=(--ro "$DATA" --hide "$DATA/inner" --ro "$DATA/inner/deep")
    expect_readable "$DATA/file"
    expect_unreadable "$DATA/inner/file"
    expect_readable "$DATA/inner/deep/file"
}

@test "writable inside read-only, read-only inside writable" {
    JAIL=(--ro "$DATA" --rw "$DATA/inner")
    expect_unwritable "$DATA/file"
    expect_writable "$DATA/inner/file"
    JAIL=(--rw "$DATA" --ro "$DATA/inner")
    expect_writable "$DATA/file"
    expect_unwritable "$DATA/inner/deep/file"
}

@test "the order of the options does not matter" {
    JAIL=(--hide "$DATA/inner" --ro "$DATA/inner/deep" --ro "$DATA")
    expect_readable "$DATA/file"
    expect_unreadable "$DATA/inner/file"
    expect_readable "$DATA/inner/deep/file"
}

@test "a hidden file inside the project reads as empty, and can't be replaced" {
    echo planted >secret.txt
    JAIL=(--hide "$PROJECT/secret.txt")
    expect_unreadable secret.txt
    run in_jail_sh 'rm -f secret.txt; mv secret.txt aside; cat aside; echo inside >secret.txt'
    prints planted cat secret.txt
}

@test "a hidden directory inside the project can't be entered or moved aside" {
    mkdir private
    echo planted >private/secret
    JAIL=(--hide "$PROJECT/private")
    expect_unreadable private/secret
    run in_jail_sh 'mv private aside && cat aside/secret; rmdir private'
    [[ $output != *planted* ]] || leak "the content came out"
    prints planted cat private/secret
}

@test "--hide of a single file in a system tree" {
    works grep -q . /etc/os-release
    JAIL=(--hide /usr/lib/os-release)
    run in_jail cat /usr/lib/os-release
    [[ $output != *NAME=* ]] || leak "should be hidden"
    run in_jail cat /etc/os-release
    [[ $output != *NAME=* ]] || leak "should be hidden under its other name"
}

@test "both spellings of a symbolic link lead to what was shown" {
    ln -s data "$HOME/link"
    JAIL=(--ro "$HOME/link")
    expect_readable "$HOME/link/file"
    expect_readable "$DATA/file"
}

@test "hiding by the name of a link hides the place itself" {
    ln -s data/inner "$HOME/link"
    JAIL=(--ro "$DATA" --hide "$HOME/link")
    expect_unreadable "$DATA/inner/file"
    expect_readable "$DATA/file"
}

@test "--ro and --hide of the same path: hidden wins" {
    JAIL=(--ro "$DATA" --hide "$DATA")
    run in_jail cat "$DATA/file"
    ((status != 0)) && [[ $output != one ]] || leak "should be hidden or refused"
}

@test "a source that does not exist is an error that names it" {
    JAIL=(--ro "$HOME/nothing-here")
    refused 125 "nothing-here" in_jail true
}

@test "a thousand rules work" {
    local number
    for number in $(seq 1000); do
        mkdir -p "$HOME/many/$number"
        JAIL+=(--ro "$HOME/many/$number")
    done
    echo last >"$HOME/many/1000/file"
    echo secret >"$HOME/many/secret"
    expect_readable "$HOME/many/1000/file"
    expect_hidden "$HOME/many/secret"
}
