#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Masked files: the start names them, the end names those that were opened, and an example may be shown in their place.

load helper

setup() {
    start_test
    echo "TOKEN=secret" >.env
    echo "TOKEN=" >.env.example
    mkdir service
    echo "PASSWORD=secret" >service/.env.local
}
teardown() { end_test; }

verbose_jail() { AGENT_SANDBOX_UI_VERBOSE=true "$SBX_PROGRAM" "${JAIL[@]}" -- "$@"; }

# bats test_tags=smoke
@test "the start line names the masked files" {
    works verbose_jail true
    [[ $output == *" · 2 files masked (.env, service/.env.local)"* ]] || report "not named"
    rm -r service
    works verbose_jail true
    [[ $output == *" · 1 file masked (.env)"* ]] || report "not named"
    echo a >.env.1 && echo b >.env.2 && echo c >.env.3
    works verbose_jail true
    [[ $output == *" · 4 files masked (.env, .env.1, .env.2, …)"* ]] || report "not cut"
}

@test "the end names a masked file that was opened, and no other" {
    local backend
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        works verbose_jail cat .env
        [[ $output == *"1 masked file was opened inside and showed nothing: .env;"* ]] || report "not named"
        works verbose_jail cat service/.env.local
        [[ $output == *"1 masked file was opened inside and showed nothing: service/.env.local;"* ]] || report "not named"
        works verbose_jail sh -c 'cat .env service/.env.local .env .env'
        [[ $output == *"2 masked files were opened inside"* ]] || report "not both"
        works verbose_jail sh -c 'ls -l .env; stat .env; test -e service/.env.local; cat .env.example'
        [[ $output != *"opened inside"* ]] || report "named without reason"
        # Reading outside does not count.
        start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; rm go'
        works cat .env
        touch go
        end_of_jail
        output=$(cat "$BATS_TEST_TMPDIR/jail.out")
        [[ $output != *"opened inside"* ]] || report "an opening outside was named"
    done
}

@test "a masked file can't be replaced by its example" {
    works sh -c 'cp .env .env.copy && cp .env.example .env && mv .env.copy .env'
    fails "Read-only file system" in_jail cp .env.example .env
    prints "TOKEN=secret" cat .env
}

@test "project.mask_with shows the example in the place of the masked file" {
    local backend
    export AGENT_SANDBOX_PROJECT_MASK_WITH=example
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        prints "TOKEN=" in_jail cat .env
        # There is no example beside this one.
        prints "" in_jail cat service/.env.local
        echo "PASSWORD=" >service/.env.sample
        prints "PASSWORD=" in_jail cat service/.env.local
        fails "" in_jail_sh 'echo x >.env'
        works verbose_jail cat .env
        [[ $output == *"1 masked file was opened inside and showed no secret: .env;"* ]] || report "not named"
        prints "TOKEN=secret" cat .env
        # A link could lead to any file.
        ln -sf /etc/hostname service/.env.sample
        prints "" in_jail cat service/.env.local
        rm service/.env.sample
    done
    unset AGENT_SANDBOX_PROJECT_MASK_WITH
    prints "" in_jail cat .env
}

@test "the start names a masked file that git tracks, because a commit with -a inside removes its content" {
    make_repository .
    echo "PORT=80" >.env.development
    git add -f .env.development service && git commit -qm tracked
    # The control is in the same output: git inside finds the file changed.
    works verbose_jail git status --short
    [[ $output == *"masked and tracked by git: .env.development, service/.env.local; git inside finds no content there"*'project.unmask = [".env.development"]'* ]] || report "not told"
    [[ $output == *" M .env.development"* && $output != *"tracked by git: .env,"* ]] || report "git sees it changed"
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nunmask = [".env.development", "service/.env.local"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works verbose_jail git status --short
    [[ $output != *"tracked by git"* && $output != *" M .env"* ]] || report "shown files need no line"
    rm "$HOME/.config/agent-sandbox/config.toml"
    works "$SBX_PROGRAM" --quiet -- true
    [[ $output != *"tracked by git"* ]] || report "quiet"
    # An index that a session has made: no FIFO, link or garbage stops the start.
    local make
    for make in 'mkfifo .git/index' 'ln -s /dev/zero .git/index' 'ln -s index .git/index' 'head -c 5000000 /dev/zero >.git/index' 'echo DIRC >.git/index' 'mkdir .git/index'; do
        rm -rf .git/index
        sh -c "$make"
        works verbose_jail true
    done
}
