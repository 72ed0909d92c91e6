#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Start-up files are shown without the lines that hold a secret, in every home mode, and still start a shell.

load helper

setup() {
    start_test
    cat >"$HOME/.bashrc" <<'RC'
# don't panic
export EDITOR=vim GREETING=hello
export GITHUB_TOKEN=planted-secret
if true; then
    export NPM_TOKEN="planted-secret
over two lines"
fi
deploy() {
    curl -H 'Authorization: Bearer planted-secret' https://example.org
}
case x in
    x) DB_PASSWORD=planted-secret ;;
esac
alias gh='GH_TOKEN=planted-secret gh'
LAST=here
RC
    mkdir -p "$HOME/.config/fish/conf.d"
    echo 'set -gx OPENAI_API_KEY planted-secret' >"$HOME/.config/fish/conf.d/keys.fish"
}
teardown() { end_test; }

# bats test_tags=smoke
@test "no home mode shows a line that holds a secret" {
    works grep -q planted-secret "$HOME/.bashrc" "$HOME/.config/fish/conf.d/keys.fish"
    for mode in tmpwrite restricted read write; do
        JAIL=(--home "$mode")
        works in_jail cat "$HOME/.bashrc" "$HOME/.config/fish/conf.d/keys.fish"
        [[ $output != *planted-secret* ]] || leak "$mode: a secret is in the copy"
        [[ $output == *GREETING=hello* ]] || report "$mode: not a copy of it"
    done
    works grep -q planted-secret "$HOME/.bashrc"
}

@test "the rest of the file still works" {
    for mode in tmpwrite write; do
        JAIL=(--home "$mode")
        prints "hello here" in_jail bash -c '. ~/.bashrc && echo "$GREETING $LAST"'
    done
    # The copy has as many lines as the file.
    prints "$(wc -l <"$HOME/.bashrc")" in_jail_sh 'wc -l <~/.bashrc'
}

@test "a file without a secret is shown as it is" {
    echo 'export EDITOR=vim' >"$HOME/.bashrc"
    works in_jail cmp "$HOME/.bashrc" /dev/stdin <"$HOME/.bashrc"
}

@test "why path says that a copy is shown" {
    works "$SBX_PROGRAM" why path "$HOME/.bashrc"
    [[ $output == *"a copy is shown, without 8 lines that hold a secret"* ]] || report "no reason"
}

@test "a rule that names the file shows it whole" {
    JAIL=(--ro "$HOME/.bashrc")
    works in_jail grep -q planted-secret "$HOME/.bashrc"
}

@test "a backend that can't show a copy hides the file" {
    JAIL=(--backend landlock)
    fails "" in_jail cat "$HOME/.bashrc"
    echo 'export EDITOR=vim' >"$HOME/.bashrc"
    works in_jail cat "$HOME/.bashrc"
}

@test "a link is followed to what it shows" {
    mkdir "$HOME/dotfiles"
    mv "$HOME/.bashrc" "$HOME/dotfiles/bashrc"
    ln -s dotfiles/bashrc "$HOME/.bashrc"
    for mode in tmpwrite read; do
        JAIL=(--home "$mode")
        works in_jail cat "$HOME/.bashrc"
        [[ $output != *planted-secret* ]] || leak "$mode: a secret is in the copy"
        [[ $output == *GREETING=hello* ]] || report "$mode: not a copy of it"
    done
}
