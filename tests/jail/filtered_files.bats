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

@test "no form of a secret beside an assignment is shown" {
    printf '%s\n' 'KEPT=1' ': "${GH_TOKEN:=planted-secret}"' 'read -r GH_TOKEN <<< planted-secret' 'read -r GH_TOKEN <<EOF' planted-secret EOF \
        'printf -v GH_TOKEN %s planted-secret' 'export GH_TOKEN="$(echo "' planted-secret '")"' 'alias x="curl -u me:planted-secret https://a.example/"' \
        'docker login -u me -p planted-secret r.example' 'X[GH_TOKEN]=planted-secret' >"$HOME/.bashrc"
    printf '[github] token = planted-secret\n[user]\n\tname = kept\n[http]\n\tproxy = me:planted-secret@p:80\n' >"$HOME/.gitconfig"
    mkdir -p "$HOME/.cargo"
    printf '[env.GH_TOKEN]\nvalue = "planted-secret"\n[build]\njobs = 1\n' >"$HOME/.cargo/config.toml"
    echo "let \$GH_TOKEN = 'planted-secret'" >"$HOME/.vimrc"
    works grep -q planted-secret "$HOME/.bashrc" "$HOME/.gitconfig" "$HOME/.cargo/config.toml" "$HOME/.vimrc"
    works in_jail cat "$HOME/.bashrc" "$HOME/.gitconfig" "$HOME/.cargo/config.toml" "$HOME/.vimrc"
    [[ $output != *planted-secret* && $output == *KEPT=1* && $output == *"name = kept"* && $output == *"jobs = 1"* ]] || report "shown"
    works in_jail bash -c '. ~/.bashrc && test "$KEPT" = 1'
}

@test "settings below installations, of editors and of tools are shown without their secrets" {
    local files=(.npm-global/etc/npmrc .nvm/versions/node/v20/etc/npmrc .conda/.condarc miniconda3/.condarc .config/ccache/ccache.conf
        .config/nvim/lua/a.lua .config/nvim/lua/plugins/ai.lua .vim/plugin/ai.vim .emacs.d/custom.el .emacs.d/lisp/x.el
        .oh-my-zsh/custom/plugins/me/me.plugin.zsh .config/tmux/local.conf .config/fish/completions/x.fish .spack/config.yaml .R/Makevars) file mode
    for file in "${files[@]}"; do
        mkdir -p "$HOME/${file%/*}"
        case $file in
            *npmrc) printf '//r.example/:_authToken=planted-secret\nkept=1\n' ;;
            *condarc) printf 'channels:\n  - https://me:planted-secret@a.example/c\nkept: 1\n' ;;
            *ccache.conf) printf 'remote_storage = http://me:planted-secret@a.example\nkept = 1\n' ;;
            *.el) printf '(setenv "GH_TOKEN" "planted-secret")\n(setq kept 1)\n' ;;
            *.lua) printf 'vim.env.GH_TOKEN = "planted-secret"\nkept = 1\n' ;;
            *.vim) printf 'let g:api_key = "planted-secret"\nlet kept = 1\n' ;;
            *.fish) printf 'set -gx GH_TOKEN planted-secret\nset kept 1\n' ;;
            *tmux*) printf 'set-environment -g GH_TOKEN planted-secret\nset -g @kept 1\n' ;;
            *.yaml) printf 'config:\n  my_token: planted-secret\n  kept: 1\n' ;;
            *) printf 'GH_TOKEN=planted-secret\nkept=1\n' ;;
        esac >"$HOME/$file"
        works grep -q planted-secret "$HOME/$file"
    done
    for mode in tmpwrite restricted; do
        JAIL=(--home "$mode")
        for file in "${files[@]}"; do
            works in_jail cat "$HOME/$file"
            [[ $output != *planted-secret* && $output == *kept* ]] || report "$mode: $file"
        done
    done
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
