#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Symbolic links that one session leaves in a directory that it may write, and that a later launch finds: they show no hidden file,
# and they do not stop a project from starting.

load helper

setup() {
    start_test
    mkdir "$HOME/.ssh"
    echo "planted secret" >"$HOME/.ssh/id_ed25519"
    printf '#!/bin/sh\nexec sh -c "$@"\n' >"$PROJECT/claude"
    chmod +x "$PROJECT/claude"
}
teardown() { end_test; }

as_agent() { "$SBX_PROGRAM" --quiet -- ./claude "$1"; }

# bats test_tags=smoke
@test "a link to a credential in place of .gitconfig shows nothing" {
    # Only a session that may write there can plant the link.
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\nunprotect = [".gitconfig"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    JAIL=(--home write)
    works in_jail ln -s .ssh/id_ed25519 "$HOME/.gitconfig"
    prints "planted secret" cat "$HOME/.gitconfig"
    rm "$HOME/.config/agent-sandbox/config.toml"
    JAIL=()
    run in_jail cat "$HOME/.gitconfig"
    [[ $output != *planted* ]] || leak "shown"
    [[ $output == *".gitconfig is a link to "*"remove the link"* ]] || report "not told"
}

@test "control: a link of .gitconfig to an ordinary file is followed" {
    mkdir "$HOME/dotfiles"
    printf '[user]\n\tname = Ann\n' >"$HOME/dotfiles/gitconfig"
    ln -s dotfiles/gitconfig "$HOME/.gitconfig"
    prints Ann in_jail git config --global user.name
}

@test "a link in place of the file that an agent's copy is made of is not followed" {
    JAIL=(--home write)
    works in_jail ln -s .ssh/id_ed25519 "$HOME/.claude.json"
    run as_agent 'cat ~/.claude.json'
    [[ $output != *planted* ]] || leak "shown"
    [[ $output == *".claude.json is a symbolic link and is not copied"* ]] || report "not told"
}

@test "a link to a credential in an agent's state shows nothing" {
    mkdir "$HOME/.claude"
    ln -s ../.ssh/id_ed25519 "$HOME/.claude/CLAUDE.md"
    ln -s ../.ssh "$HOME/.claude/skills"
    run as_agent 'cat ~/.claude/CLAUDE.md ~/.claude/skills/id_ed25519'
    [[ $output != *"planted secret"* ]] || leak "shown"
    [[ $output == *"CLAUDE.md is a symbolic link and can't be protected"* ]] || report "not told"
}

@test "a link at a credential's name to the project: the start names the link" {
    local name target
    for name in .config/hub .netrc; do
        for target in "$PROJECT" "$PROJECT/claude"; do
            mkdir -p "$HOME/.config"
            works "$SBX_PROGRAM" --quiet --home write -- ln -s "$target" "$HOME/$name"
            refused 125 "the symbolic link $HOME/$name (" in_jail true
            [[ $stderr == *"leads to $target; "*"if you did not make this link, run: rm $HOME/$name" ]] || report "not told: $stderr"
            works rm "$HOME/$name"
            works in_jail true
        done
    done
}

@test "a link at a credential's name to what the jail needs hides nothing" {
    local target mode
    mkdir -p "$HOME/.config"
    for target in / /home "$HOME" /usr /usr/bin /usr/bin/env /lib /dev /proc /etc; do
        works "$SBX_PROGRAM" --quiet --home write -- ln -s "$target" "$HOME/.netrc"
        for mode in write read tmpwrite; do
            JAIL=(--home "$mode")
            works in_jail_sh 'env true && : >/dev/null && ls /proc/self && cat claude'
            [[ $output == *".netrc (logins of hosts) is a symbolic link to "*"run: rm $HOME/.netrc"* ]] || report "not told: $target"
        done
        rm "$HOME/.netrc"
    done
}

@test "control: a link at a credential's name to a file of the user hides this file" {
    mkdir "$HOME/vault"
    echo "planted secret" >"$HOME/vault/netrc"
    ln -s vault/netrc "$HOME/.netrc"
    prints "planted secret" cat "$HOME/.netrc"
    JAIL=(--home write)
    run in_jail_sh 'cat ~/.netrc ~/vault/netrc'
    [[ $output != *planted* ]] || leak "shown"
}

@test "links in the project's cache do not keep the project from starting" {
    mkdir -p "$HOME/.cache/huggingface/hub"
    echo model >"$HOME/.cache/huggingface/hub/model"
    works in_jail_sh 'mv ~/.cache/huggingface ~/.cache/aside && ln -s /etc ~/.cache/huggingface'
    prints model in_jail cat "$HOME/.cache/huggingface/hub/model"
    works in_jail_sh 'mv ~/.cache/huggingface ~/.cache/aside2 && touch ~/.cache/huggingface'
    prints model in_jail cat "$HOME/.cache/huggingface/hub/model"
}

@test "no cache of the host's can be written" {
    mkdir -p "$HOME/.cache/matplotlib"
    echo fonts >"$HOME/.cache/matplotlib/fontlist.json"
    works sh -c 'ln -s ../../.profile "$HOME/.cache/matplotlib/outside"'
    run in_jail ln -s ../../.profile "$HOME/.cache/matplotlib/inside"
    ((status != 0)) || leak "a link was made"
    prints fonts in_jail cat "$HOME/.cache/matplotlib/fontlist.json"
}
