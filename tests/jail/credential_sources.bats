#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a table [credential.NAME] names as a source stays closed in a session that does not use the credential: no session reads the
# value, or replaces what a later session runs outside.

load helper

setup() {
    start_test
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/keys" "$HOME/tools" "$HOME/.config/tracker"
    echo "tok_planted" >"$HOME/keys/tracker"
    echo "tok_planted" >"$HOME/.config/tracker/settings"
    echo "ordinary" | tee "$HOME/keys/other" >"$HOME/tools/other"
    printf '#!/bin/sh\necho tok_planted\n' >"$HOME/tools/gettok"
    chmod 755 "$HOME/tools/gettok"
}
teardown() { end_test; }

# defines SOURCE: a credential that no session of this file uses.
defines() {
    printf '[credential.tracker]\nhosts = ["good.example"]\nput = "bearer"\nvariable = "TRACKER_TOKEN"\nshape = "tok_{40}"\n%s\n' "$1" \
        >"$HOME/.config/agent-sandbox/config.toml"
}

# bats test_tags=smoke
@test "the file of a credential that is not used is hidden where the home directory is shown" {
    for access in read write; do
        JAIL=(--home "$access")
        rm -f "$HOME/.config/agent-sandbox/config.toml"
        prints tok_planted in_jail cat "$HOME/keys/tracker"
        defines 'from_file = "~/keys/tracker"'
        run in_jail cat "$HOME/keys/tracker"
        [[ $output != *tok_planted* ]] || report "the token is shown with --home $access"
        prints ordinary in_jail cat "$HOME/keys/other"
    done
}

@test "a custom file of a credential that is not used is hidden" {
    JAIL=(--home read)
    prints tok_planted in_jail cat "$HOME/.config/tracker/settings"
    defines $'files = ["~/.config/tracker/settings"]\nfields = ["token"]'
    run in_jail cat "$HOME/.config/tracker/settings"
    [[ $output != *tok_planted* ]] || report "the token is shown"
}

@test "the file of a credential that is not used can't be replaced" {
    JAIL=(--home write)
    works in_jail_sh 'mv ~/keys ~/keys2 && mkdir ~/keys && echo tok_attacker >~/keys/tracker'
    rm -rf "$HOME/keys" && mv "$HOME/keys2" "$HOME/keys"
    defines 'from_file = "~/keys/tracker"'
    run in_jail_sh 'echo tok_attacker >~/keys/tracker; rm -f ~/keys/tracker; mv ~/keys ~/keys2; echo x >>~/keys/other'
    prints tok_planted cat "$HOME/keys/tracker"
    [[ $(<"$HOME/keys/other") == *x ]] || report "control: the file beside it can't be written"
}

@test "a file of a credential that does not exist yet can't be made, nor can its directory" {
    JAIL=(--home write)
    local place first make='mkdir -p "$(dirname "$1")" && echo tok_attacker_0123456789 >"$1"'
    for place in keys/later .config/tracker/deep/later; do
        first=${place/deep\/later/deep} # the first name that is missing
        # Control: without the credential it can be made.
        rm -f "$HOME/.config/agent-sandbox/config.toml"
        works in_jail sh -c "$make" sh "$HOME/$place"
        [[ $(<"$HOME/$place") == tok_attacker* ]]
        rm -r "${HOME:?}/$first"
        defines "from_file = \"~/$place\""
        run in_jail sh -c "$make" sh "$HOME/$place"
        ((status != 0)) || report "should not be made: $place"
        # Not under another name that is moved there, either, nor in another directory in place of the one around it.
        run in_jail sh -c 'mkdir ~/aside && echo tok_attacker >~/aside/later && mv -T "$1" "$1.old"; rmdir "$1"; mv -T "$2" "$1"; python3 -c "import os, sys; os.rename(os.path.dirname(sys.argv[1]), sys.argv[2])" "$1" ~/moved' \
            sh "$HOME/$first" "$HOME/aside$([[ $first == "$place" ]] && echo /later)"
        [[ ! -s $HOME/$place ]] || report "should not exist: $place"
        [[ ! -e $HOME/moved ]] || report "should not be moved aside"
        rm -rf "$HOME/aside"
        # The placeholder is gone, so that the user can make the file.
        wait_until test ! -e "$HOME/$first"
    done
}

@test "the program of a credential that is not used can't be replaced" {
    JAIL=(--home write)
    works in_jail_sh 'echo changed >~/tools/gettok'
    printf '#!/bin/sh\necho tok_planted\n' >"$HOME/tools/gettok"
    defines "from_command = [\"$HOME/tools/gettok\"]"
    run in_jail_sh 'echo changed >~/tools/gettok; rm -f ~/tools/gettok; mv ~/tools ~/tools2; echo changed >~/tools/other'
    prints tok_planted "$HOME/tools/gettok"
    prints changed cat "$HOME/tools/other"
}

@test "the program that a name in PATH leads to can't be replaced" {
    JAIL=(--home write)
    mkdir "$HOME/links"
    ln -s ../tools/gettok "$HOME/links/gettok"
    PATH=$HOME/links:$PATH
    works in_jail_sh 'echo changed >~/tools/gettok'
    printf '#!/bin/sh\necho tok_planted\n' >"$HOME/tools/gettok"
    defines 'from_command = ["gettok"]'
    run in_jail_sh 'echo changed >~/tools/gettok; rm -f ~/tools/gettok; mv ~/tools ~/tools2'
    prints tok_planted gettok
}

@test "a link to the program of a credential that is not used can't be led elsewhere" {
    JAIL=(--home write)
    ln -s tools/gettok "$HOME/link"
    works in_jail_sh 'ln -sfn tools/other ~/link && ln -sfn tools/gettok ~/link'
    defines "from_command = [\"$HOME/link\"]"
    run in_jail_sh 'ln -sfn tools/other ~/link'
    prints tok_planted "$HOME/link"
}
