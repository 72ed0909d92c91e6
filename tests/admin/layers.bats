#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Layers (--cow) of a project that is a file system of its own: an apply stages its files in the project, where a session can write.

load helper

setup() {
    start_admin_test
    PREPARE="mount -t tmpfs -o mode=0700,uid=$(id -u "$SBX_USER") project '$PROJECT'"
}
teardown() {
    chmod -R u+rwX "$SBX_HOME/.local" 2>/dev/null || true
    rm -rf "$SBX_HOME/.local" "$SBX_HOME/victim"
    end_admin_test
}

script() {
    works on_stage bash -c 'program=$1
        jail=("$program" --quiet --network isolated)
        sandbox() { "$program" "$@"; }
        '"$1" bash "$SBX_PROGRAM"
}

@test "a link in place of the staging directory leads neither an apply nor its cleaning elsewhere" {
    as_user mkdir "$SBX_HOME/victim"
    echo mine | as_user tee "$SBX_HOME/victim/.gitignore" >/dev/null
    script '"${jail[@]}" -- ln -s ~/victim .agent-sandbox-apply && echo one >a
        "${jail[@]}" --cow -- sh -c "echo two >a"
        sandbox apply && echo applied
        cat a'
    [[ $output == *"cannot use the directory $PROJECT/.agent-sandbox-apply"* && $output != *applied* && $output == *one ]] || report "a link was followed"
    [[ $(cat "$SBX_HOME/victim/.gitignore") == mine && $(ls -A "$SBX_HOME/victim") == .gitignore ]] || report "something elsewhere was changed"
}

# The control of the test above: without the link it is applied and undone, and leaves no staging directory.
@test "an apply stages in the project where the state directory is another file system, and undo cleans that" {
    script 'echo one >a
        "${jail[@]}" --cow -- sh -c "echo two >a; echo new >b"
        sandbox apply && cat a b && ls -A .agent-sandbox-apply && sandbox apply --undo && cat a && ls -A'
    [[ $output == *$'\ntwo\nnew\n.gitignore\n'*$'\none\na' ]] || report "apply and undo"
}

@test "a project with a file of another owner that the user may write is cloned, and one line names the file" {
    local change='"$program" --network isolated --cow -- sh -c "echo two >>shared; echo new >b" 2>&1; cat shared; sandbox diff --names; sandbox apply; cat shared b'
    PREPARE+=" && chgrp '$SBX_USER' '$PROJECT' && echo one >'$PROJECT/shared' && chmod 0666 '$PROJECT/shared'"
    script "$change"
    [[ $output == *"works on a clone of the project: $PROJECT/shared belongs to another user or group"* ]] || report "no reason"
    [[ $output == *$'\none\nA b\nM shared\n'*$'\none\ntwo\nnew'* ]] || report "the file should be changed in the layer, then in the project"
    # Control: an overlay can't change it.
    script '"${jail[@]}" --cow --cow-engine overlay -- sh -c "echo two >>shared" 2>&1 || true; cat shared'
    [[ $output == *"Value too large"*$'\none' ]] || report "control"
}

@test "where the state directory can't be an upper directory, the project is cloned, and the line has the kernel's reason" {
    local own=/run/agent-sandbox-test-storage
    # The project is another file system than the one that can't be used.
    PREPARE+=" && chgrp '$SBX_USER' '$PROJECT' && mkdir -p $own && mount -t tmpfs storage $own && mkdir -p $own/lower $own/upper $own/work '$SBX_HOME/.local' &&
        mount -t overlay -o lowerdir=$own/lower,upperdir=$own/upper,workdir=$own/work storage '$SBX_HOME/.local' && chown '$SBX_USER:' '$SBX_HOME/.local'"
    script '"$program" --network isolated --cow -- sh -c "echo new >b" 2>&1; ls; sandbox diff --names; sandbox apply; ls'
    [[ $output == *"works on a clone of the project: the kernel can't have an overlay with a layer in "* ]] || report "no reason"
    [[ $output == *$'\nA b\n'*$'\nb' ]] || report "the layer should work"
    script '"$program" --quiet --network isolated --cow --cow-engine overlay -- true 2>&1; echo $?'
    [[ $output == *"Linux 5.11"*125 ]] || report "control: there should be no overlay"
}
