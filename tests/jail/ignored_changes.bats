#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files of a layer that git ignores: they are counted, and neither shown nor applied without --ignored.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    mkdir src
    echo code >src/x.c
    echo kept >kept.log
    printf 'out/\n*.log\n' >.gitignore
    git add . && git add -f kept.log && git commit -qm first
    mkdir out && echo old >out/old
    JAIL=(--network isolated --cow)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }
change_all() { in_jail_sh 'echo 1 >out/new; rm out/old; echo log >a.log; echo more >>kept.log; echo new >src/new.c'; }

@test "files that git ignores are counted, not shown and not applied; --ignored includes them" {
    run change_all
    says "0 deleted, 1 changed, 1 new; besides 3 files that git ignores (a.log, out)"
    prints "M kept.log A src/new.c" sh -c "'$SBX_PROGRAM' diff --names | xargs"
    [[ $(sandbox diff) != *a.log* && $(sandbox diff --ignored) == *a.log* ]]
    prints 2 sh -c "'$SBX_PROGRAM' diff --json | jq length"
    works sandbox apply
    says "git ignores 3 files: 'apply --ignored' applies them, too"
    [[ -e src/new.c && -e out/old && ! -e out/new && ! -e a.log && $(tail -n 1 kept.log) == more ]] || report "$(find .)"
    run sandbox apply src
    says "nothing to apply"
    # The layer still has them.
    works sandbox apply --ignored
    [[ ! -e out/old && -e out/new && -e a.log ]]
}

# Threat: rules of the layer that hide what is applied.
@test "rules that the session wrote hide no file that is applied, and bring none in" {
    works in_jail_sh 'printf "*\n!.gitignore\n" >src/.gitignore; echo x >src/hidden.c; echo y >src/x.c; printf "*.log\n" >.gitignore; echo 1 >out/new'
    run sandbox diff --names
    says "M src/x.c"
    says "A out/new"
    [[ $output != *hidden.c* ]]
    works sandbox apply
    [[ ! -e src/hidden.c && -e out/new && $(cat src/x.c) == y ]]
}

@test "without a repository no file is ignored" {
    rm -rf .git
    works change_all
    prints "D out/old A a.log M kept.log A out/new A src/new.c" sh -c "'$SBX_PROGRAM' diff --names | xargs"
    works sandbox apply
    [[ -e out/new && -e a.log ]]
}
