#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Git outside writes through symbolic links in .git. A session can make such links, and the text that git writes.

load helper
load git_config

setup() {
    start_git_test
    JAIL=(--network isolated)
    echo "# mine" >"$HOME/.bashrc"
}
teardown() { end_test; }

# The next `git commit` outside writes the prepared message to COMMIT_EDITMSG, before the editor starts.
PLANT='rm -f .git/COMMIT_EDITMSG; ln -s "$1/.bashrc" .git/COMMIT_EDITMSG; echo "touch planted" >.git/MERGE_MSG'
commit_outside() { GIT_EDITOR=true git commit -q --allow-empty; }
is_mine() { grep -qx "# mine" "$HOME/.bashrc"; }
aside() { "$SBX_PROGRAM" release | grep -c "project/.git/$1 "; }

@test "control: git outside writes a planted text to the file that a link in .git names" {
    sh -c "$PLANT" sh "$HOME"
    works commit_outside
    works grep -qx "touch planted" "$HOME/.bashrc"
}

@test "a link in .git that leads out of it is moved out of the project at the end, with every backend" {
    local backend
    for backend in native bwrap firejail; do
        JAIL=(--network isolated --backend "$backend")
        run "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c "$PLANT" sh "$HOME"
        [[ $output == *".git/COMMIT_EDITMSG is new and was moved out of the project: a symbolic link that leads git out"* ]] ||
            report "$backend: should name the link"
        works commit_outside
        is_mine || report "$backend: git wrote to the file"
        [[ -f .git/COMMIT_EDITMSG && ! -L .git/COMMIT_EDITMSG ]] || report "$backend: git should have a file of its own"
    done
    prints 3 aside COMMIT_EDITMSG
}

@test "links below .git, through the project, over two sessions and in shut directories are moved" {
    local link
    works in_jail_sh 'rm -r .git/logs; ln -s "$1/logs" .git/logs; ln -s ../target .git/FETCH_HEAD; echo x >target
        mkdir -p .git/modules/a/b .git/shut/deep; ln -s ../../../../target .git/modules/a/b/index; ln -s "$1" .git/shut/deep/link
        ln -s ../../.. .git/shut/up; chmod 0 .git/shut/deep .git/shut' "$HOME"
    works in_jail_sh 'rm target; ln -s "$1/.bashrc" target' "$HOME"
    for link in logs FETCH_HEAD modules/a/b/index shut/deep/link shut/up; do
        works test ! -L ".git/$link"
        prints 1 aside "$link"
    done
    chmod -R u+rwx .git/shut
    works test ! -L .git/shut/deep/link -a ! -L .git/shut/up
    works git fetch -q
    is_mine || report "git wrote to the file"
}

@test "links in another repository of the project, and where .git is a file, are moved" {
    local place
    make_repository other
    git worktree add -q ../tree
    cd ../tree
    for place in "$PROJECT/other" "$HOME/tree"; do
        cd "$place"
        GIT_EDITOR=true git commit -q --allow-empty -m first
        JAIL=(--network isolated --project "$PROJECT")
        [[ $place == */other ]] || JAIL=(--network isolated)
        works in_jail_sh 'cd "$2" && git=$(git rev-parse --absolute-git-dir) && rm -f "$git/COMMIT_EDITMSG" &&
            ln -s "$1/.bashrc" "$git/COMMIT_EDITMSG" && echo "touch planted" >"$git/MERGE_MSG" && test -L "$git/COMMIT_EDITMSG"' "$HOME" "$place"
        works commit_outside
        is_mine || report "git wrote to the file in $place"
    done
}

@test "after the supervisor is killed, the keeper moves the links" {
    start_jail "$PLANT; touch ready; sleep 1000" "$HOME"
    kill -KILL "$SUPERVISOR"
    wait_until test ! -L .git/COMMIT_EDITMSG
    works commit_outside
    is_mine || report "git wrote to the file"
}

@test "the user's own links in .git stay, and so do new ones that stay in .git" {
    ln -s "$HOME/outside" .git/mine
    works in_jail_sh 'ln -s refs/heads/none .git/branch; ln -s "$PWD/.git/config" .git/other; ln -s ../refs .git/info/refs2'
    for link in mine branch other info/refs2; do works test -L ".git/$link"; done
    run "$SBX_PROGRAM" release
    [[ $output != *.git/* ]] || report "nothing should be moved"
}

@test "thousands of links are removed, and a few are kept to look at" {
    run "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'mkdir .git/many; cd .git/many; for i in $(seq 3000); do ln -s /etc/passwd "l$i"; done'
    [[ $output == *"; 2984 more links were removed"* ]] || report "should count them"
    works sh -c '[ -z "$(find .git/many -type l)" ]'
    run "$SBX_PROGRAM" release
    (($(grep -c .git/many <<<"$output") == 16)) || report "sixteen should be kept"
}
