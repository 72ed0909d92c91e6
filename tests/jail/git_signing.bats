#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A user whose git signs each commit: git inside signs with the filtered ssh-agent, or commits without a signature and prints a line about it.

load helper

setup() {
    start_test
    configure_git
    make_repository .
    mkdir -m 700 "$HOME/.ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id"
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/other"
    git config --global user.signingKey "$HOME/.ssh/id.pub"
    git config --global gpg.format ssh
    git config --global commit.gpgSign true
    git config --global tag.gpgSign true
    awk -v user="$(git config user.email)" '{ print user, $1, $2 }' "$HOME/.ssh/id.pub" >"$HOME/signers"
    git config --global gpg.ssh.allowedSignersFile "$HOME/signers"
    SSH_AUTH_SOCK=$HOME/agent ssh-agent -D -a "$HOME/agent" </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    export SSH_AUTH_SOCK=$HOME/agent
    wait_until test -S "$SSH_AUTH_SOCK"
    ssh-add -q "$HOME/.ssh/id"
    JAIL=(--network isolated)
}
teardown() { end_test; }

# settings LINE...: the user's file.
settings() {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '%s\n' "$@" >"$HOME/.config/agent-sandbox/config.toml"
}
commit_and_tag() { in_jail sh -c 'git commit -q --allow-empty -m inside && git tag -m inside inside'; }

@test "git inside commits without a signature, in every backend, and one line at the start names the setting" {
    local backend
    for backend in native bwrap firejail landlock; do
        run "$SBX_PROGRAM" --backend "$backend" "${JAIL[@]}" -- git commit -q --allow-empty -m inside
        ((status == 0)) || report "should commit: $backend"
        (($(grep -c "git inside does not sign commits" <<<"$output") == 1)) || report "should have one line: $backend"
        [[ $output == *'ssh.sign = ["git"]'* ]] || report "should name the setting: $backend"
        fails "" git verify-commit HEAD
    done
    works in_jail git tag -m inside inside
    # Control: outside, each commit is signed.
    git commit -q --allow-empty -m outside
    works git verify-commit HEAD
}

@test "with gpg as the signer git inside commits, and the line states how to sign outside" {
    git config --global gpg.format openpgp
    git config --global user.signingKey 0123456789ABCDEF
    fails "failed to sign" git commit -q --allow-empty -m outside
    run "$SBX_PROGRAM" "${JAIL[@]}" -- git commit -q --allow-empty -m inside
    ((status == 0)) || report "should commit"
    [[ $output == *"git inside does not sign commits"*"sign them outside"* ]] || report "should say how"
}

@test "with ssh.sign the user's agent signs commits and tags, for each form of the key" {
    local key
    settings '[ssh]' 'keys = ["~/.ssh/id.pub"]' 'sign = ["git"]'
    for key in "$HOME/.ssh/id.pub" "$HOME/.ssh/id" "key::$(<"$HOME/.ssh/id.pub")" "~/.ssh/id.pub"; do
        git config --global user.signingKey "$key"
        works commit_and_tag
        works git verify-commit HEAD
        works git verify-tag inside
        git tag -d inside
    done
    # A program that is not in the jail.
    git config --global gpg.ssh.program /opt/signer
    works commit_and_tag
    git config --global --unset gpg.ssh.program
    works git verify-commit HEAD
    run in_jail_sh 'ls ~/.ssh; grep -rl "PRIVATE KEY" ~ 2>/dev/null'
    [[ $output != *id* ]] || report "should not see keys"
}

@test "with ssh.sign a key that is not in ssh.keys signs nothing, and the line states it" {
    settings '[ssh]' 'keys = ["~/.ssh/id.pub"]' 'sign = ["git"]'
    git config --global user.signingKey "$HOME/.ssh/other.pub"
    ssh-add -q "$HOME/.ssh/other"
    run "$SBX_PROGRAM" "${JAIL[@]}" -- git commit -q --allow-empty -m inside
    ((status == 0)) || report "should commit"
    [[ $output == *"the key of user.signingKey is not in ssh.keys"* ]] || report "should name the list"
    fails "" git verify-commit HEAD
    # git commit -S asks for that key, and fails.
    fails "" in_jail git commit -q -S --allow-empty -m inside
}
