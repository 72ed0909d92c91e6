#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What `diff` and `apply --dry-run` list of a layer: deletions first and all of them, and no path that does not exist.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    mkdir -p docs/deep many
    printf 'one\ntwo\n' >README.md
    printf '1\n2\n3\n' >docs/old.md
    echo deep >docs/deep/file
    (cd many && seq 300 | xargs touch)
    git add . && git commit -qm first
    JAIL=(--network isolated --cow)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }

@test "diff --stat and apply --dry-run list each deleted file first, also those of directories" {
    works in_jail_sh 'echo a >>README.md; echo b >aaa; rm -r docs'
    prints "D docs/deep/file +0 -1 D docs/old.md +0 -3 M README.md +1 -0 A aaa +1 -0 2 deleted, 1 changed, 1 new" \
        sh -c "'$SBX_PROGRAM' diff --stat | xargs"
    prints $'delete docs/deep/file\ndelete docs/old.md\nwrite README.md\nwrite aaa' sandbox apply --dry-run
    prints "D docs/old.md +0 -3" sh -c "'$SBX_PROGRAM' diff --stat docs/old.md | head -n 1 | xargs"
    # Control: apply deletes these files.
    works sandbox apply
    [[ ! -e docs && -e aaa ]]
}

@test "a directory that becomes a file: its files are named as deleted in every form" {
    works in_jail_sh 'rm -r docs; echo x >docs'
    for form in --stat --names --deleted; do
        run sandbox diff "$form"
        says "docs/old.md"
        says "docs/deep/file"
    done
    [[ $(sandbox apply --dry-run) == $'delete docs/deep/file\ndelete docs/old.md\nwrite docs' ]] || report "$(sandbox apply --dry-run)"
    works sandbox apply
    [[ -f docs ]]
}

@test "300 deletions are all listed by each form of diff, and the end of a session counts those that it leaves out" {
    run "$SBX_PROGRAM" "${JAIL[@]}" -- rm -r many
    says "and 100 more: agent-sandbox diff --deleted"
    [[ $(grep -c "deleted: many/" <<<"$output") == 200 ]]
    for form in --stat --deleted; do
        [[ $(sandbox diff "$form" | grep -c many/) == 300 ]] || report "diff $form cuts"
    done
    [[ $(sandbox diff | grep -c '^deleted file') == 300 && $(sandbox apply --dry-run | grep -c '^delete ') == 300 ]]
}

@test "a path that neither the project nor the layer has is an error of diff and apply that names it" {
    works in_jail_sh 'echo a >>README.md; mkdir new; echo b >new/f'
    for verb in diff "diff --stat" "apply --dry-run" apply; do
        fails "neither the project nor the layer has READNE.md, new/g" sandbox $verb README.md READNE.md new/f new/g
        [[ $status == 2 ]] || report "should end with 2"
    done
    [[ $(wc -l <README.md) == 2 ]]
    # Control: names of the project that the layer leaves alone, and names of the layer.
    prints "" sandbox diff docs
    works sandbox apply README.md new/f
    [[ -e new/f && $(wc -l <README.md) == 3 ]]
}
