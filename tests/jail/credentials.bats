#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Credentials are hidden in every home mode. The test creates each of them, and each is readable outside.

load helper

FILES=(
    .ssh/id_ed25519 .aws/credentials .azure/accessTokens.json .config/gcloud/credentials.db .kube/config
    .gnupg/private-keys-v1.d/key .password-store/mail.gpg .docker/config.json .netrc .npmrc .pypirc .git-credentials
    .config/gh/hosts.yml .config/hub .cargo/credentials.toml .cargo/credentials .m2/settings.xml .gem/credentials
    .terraform.d/credentials.tfrc.json .config/rclone/rclone.conf .config/op/config .vault-token .huggingface/token
    .cache/huggingface/token .databrickscfg .snowflake/config.toml .pgpass .my.cnf .bash_history .zsh_history
    .python_history .node_repl_history .mozilla/firefox/logins.json .config/google-chrome/Cookies
    .local/share/keyrings/login.keyring .Xauthority .local/share/kwalletd/kdewallet.kwl
)

setup() {
    start_test
    for file in "${FILES[@]}"; do
        mkdir -p "$HOME/$(dirname "$file")"
        echo "planted secret" >"$HOME/$file"
    done
    # A toolchain that is visible beside its hidden credentials file.
    mkdir -p "$HOME/.cargo/bin"
    echo "a tool" >"$HOME/.cargo/bin/tool"
}
teardown() { end_test; }

# One jail for the whole list: it prints the files whose content it could read, and those whose name was visible.
PROBE='for file; do cat "$HOME/$file" 2>/dev/null | grep -q planted && echo "read $file"; [ -e "$HOME/$file" ] && echo "saw $file"; done; true'

# bats test_tags=smoke
@test "control: outside, every planted secret can be read" {
    works sh -c "$PROBE" sh "${FILES[@]}"
    [[ $(grep -c '^read' <<<"$output") == "${#FILES[@]}" ]]
}

# bats test_tags=smoke
@test "tmpwrite and restricted: no credential exists" {
    for mode in tmpwrite restricted; do
        JAIL=(--home "$mode")
        prints "" in_jail_sh "$PROBE" "${FILES[@]}"
        fails "No such file or directory" in_jail cat "$HOME/.ssh/id_ed25519"
    done
}

@test "read and write: no credential can be read" {
    for mode in read write; do
        JAIL=(--home "$mode")
        works in_jail_sh "$PROBE" "${FILES[@]}"
        [[ $output != *"read "* ]] || leak "readable with --home $mode"
    done
}

@test "write: no credential can be changed, replaced or moved aside" {
    JAIL=(--home write)
    for file in .ssh/id_ed25519 .netrc .config/gh/hosts.yml .aws/credentials; do
        run in_jail_sh 'echo changed >"$HOME/$1"; rm -rf "$HOME/$1"; mv "$HOME/${1%%/*}" "$HOME/aside" && cat "$HOME/aside" "$HOME/aside/${1#*/}"' "$file"
        prints "planted secret" cat "$HOME/$file"
        [[ $output != *"planted secret"*"planted secret"* ]]
    done
}

@test "a toolchain is visible without its credentials file" {
    prints "a tool" in_jail cat "$HOME/.cargo/bin/tool"
    expect_hidden "$HOME/.cargo/credentials.toml"
}

@test "a credential behind a symbolic link is hidden under both names" {
    mkdir "$HOME/vault"
    mv "$HOME/.ssh" "$HOME/vault/ssh"
    ln -s vault/ssh "$HOME/.ssh"
    for mode in tmpwrite restricted read write; do
        JAIL=(--home "$mode")
        expect_unreadable "$HOME/.ssh/id_ed25519"
        expect_unreadable "$HOME/vault/ssh/id_ed25519"
    done
}

@test "asking for a credential directory is refused, also in write mode" {
    for JAIL in "--ro=$HOME/.ssh" "--rw=$HOME/.ssh"; do
        refused 125 ".ssh" in_jail true
    done
}

@test "a file below a credential directory is shown only when a rule names it, and alone" {
    echo "host keys" >"$HOME/.ssh/known_hosts"
    expect_hidden "$HOME/.ssh/known_hosts"
    JAIL=(--ro "$HOME/.ssh/known_hosts")
    expect_readable "$HOME/.ssh/known_hosts"
    expect_hidden "$HOME/.ssh/id_ed25519"
}

@test "credentials that a variable moves are hidden where they are" {
    mkdir -p "$HOME/moved/gh" "$HOME/moved/cargo"
    for file in moved/kubeconfig moved/aws moved/netrc moved/gh/hosts.yml moved/cargo/credentials.toml project/kubeconfig; do
        echo "planted secret" >"$HOME/$file"
    done
    export KUBECONFIG=/nowhere:$HOME/moved/kubeconfig:kubeconfig AWS_SHARED_CREDENTIALS_FILE=$HOME/moved/aws NETRC=$HOME/moved/netrc
    export CARGO_HOME=$HOME/moved/cargo XDG_CONFIG_HOME=$HOME/moved HISTFILE=/dev/null
    local moved=(moved/kubeconfig moved/aws moved/netrc moved/gh/hosts.yml moved/cargo/credentials.toml project/kubeconfig)
    works sh -c "$PROBE" sh "${moved[@]}"
    [[ $(grep -c '^read' <<<"$output") == "${#moved[@]}" ]] || report "control"
    for mode in read write; do
        JAIL=(--home "$mode")
        works in_jail_sh "$PROBE" "${moved[@]}"
        [[ $output != *"read "* ]] || leak "readable with --home $mode"
        works in_jail_sh 'echo x >/dev/null'
    done
    JAIL=(--ro "$HOME/moved")
    works in_jail_sh "$PROBE" "${moved[@]}"
    [[ $output != *"read "* ]] || leak "readable with --ro"
}

@test "a moved credential that the user names is shown" {
    mkdir "$HOME/moved"
    echo "planted secret" >"$HOME/moved/kubeconfig"
    export KUBECONFIG=$HOME/moved/kubeconfig
    JAIL=(--ro "$KUBECONFIG")
    prints "planted secret" in_jail cat "$KUBECONFIG"
}
