#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Where .git is missing or broken, git takes a directory with HEAD for a repository, and runs programs that its settings name. A
# session can break .git and write HEAD.

load helper
load git_config

setup() { start_git_test; }
teardown() { end_test; }

# Writes a repository into the directory $1. Its objects, and the settings that run a program, are elsewhere.
PLANT='plant() {
    git init -q --bare elsewhere
    printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch $PLANTED; false\"\n[extensions]\n\tworktreeConfig = true\n" >elsewhere/config
    printf "[core]\n\tbare = false\n\tworktree = .\n" >"$1/config.worktree"
    echo "$PWD/elsewhere" >"$1/commondir"
    echo "ref: refs/heads/main" >"$1/HEAD"
}
PLANTED=$1
'
is_gone() { [[ ! -e $1 && ! -L $1 ]]; }
aside() { "$SBX_PROGRAM" release | grep -c "project/HEAD"; }

@test "control: git outside runs the settings of a repository around a broken .git, and of one in a directory" {
    sh -c "$PLANT"'plant .' sh "$PLANTED"
    git status >/dev/null 2>&1 || true
    is_gone "$PLANTED" || report "a good .git should count"
    mv .git/HEAD .git/old
    git status >/dev/null 2>&1 || true
    works test -e "$PLANTED"
    rm "$PLANTED" HEAD
    mkdir src
    sh -c "$PLANT"'plant src' sh "$PLANTED"
    (cd src && git status >/dev/null 2>&1) || true
    works test -e "$PLANTED"
}

@test "HEAD in the project is moved out at once, and release knows it" {
    local backend
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        start_jail "$PLANT"'mv .git/HEAD .git/old; touch ready; plant .; touch planted; until [ -e go ]; do sleep 0.02; done; mv .git/old .git/HEAD' "$PLANTED"
        wait_until test -e planted
        wait_until is_gone HEAD
        git status >/dev/null 2>&1 || true
        is_gone "$PLANTED" || report "$backend: git ran the program"
        touch go
        end_of_jail
        prints 1 aside
        works sh -c '"$1" log --json | grep -q "git would take the project for this repository"' sh "$SBX_PROGRAM"
        rm -rf go planted commondir config.worktree elsewhere
        works "$SBX_PROGRAM" release HEAD --yes </dev/null
        rm HEAD
    done
}

@test "a link and a rename are moved as well, a directory stays" {
    JAIL=(--network isolated)
    start_jail 'ln -s refs/heads/main HEAD; touch ready; while [ -L HEAD ]; do sleep 0.02; done; echo x >other; mv other HEAD
        while [ -e HEAD ]; do sleep 0.02; done; mkdir HEAD'
    end_of_jail
    ((STATUS == 0)) || report "the session failed"
    [[ $(aside) -ge 2 ]] || report "both should be there"
}

@test "a session that writes HEAD again and again does not fill the user's state directory" {
    JAIL=(--network isolated)
    start_jail 'touch ready; i=0; while [ $i -lt 40 ]; do echo $i >HEAD; while [ -e HEAD ]; do sleep 0.01; done; i=$((i + 1)); done'
    end_of_jail
    ((STATUS == 0)) || report "the session failed"
    [[ $(aside) -le 20 ]] || report "too many are kept"
    is_gone HEAD || report "HEAD is left"
}

@test "neither a directory in the way nor a project without permissions keeps HEAD in the project" {
    local backend
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        works in_jail_sh 'mkdir -p .agent-sandbox-moved/x; i=0
            while [ $i -lt 18 ]; do echo $i >HEAD; while [ -e HEAD ]; do sleep 0.01; done; i=$((i + 1)); done'
        works in_jail_sh 'i=0; while [ $i -lt 18 ]; do
            echo $i >HEAD; chmod 555 .; while [ -e HEAD ]; do sleep 0.01; done; chmod 755 .; i=$((i + 1)); done'
        works in_jail python3 -c 'import os, threading
def shut():
    while os.path.exists("HEAD"): os.chmod(".", 0o500)
open("HEAD", "w").close()
threads = [threading.Thread(target=shut) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
os.chmod(".", 0o755)'
        is_gone HEAD || report "$backend: HEAD is left"
        rm -rf .agent-sandbox-moved
    done
}

@test "a session that goes on to write HEAD is ended, with a line that names it" {
    local backend
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        run in_jail_sh 'while :; do echo x >HEAD; done'
        ((status == 137)) && [[ $output == *"agent-sandbox: "*"project/HEAD again and again"* ]] || report "$backend: should be ended"
        is_gone HEAD || report "$backend: HEAD is left"
    done
}

@test "without mount namespaces HEAD is moved out at the end" {
    JAIL=(--network open --backend landlock)
    "$SBX_PROGRAM" "${JAIL[@]}" -- true 2>/dev/null || return 0 # this kernel has no Landlock; docs/backends.md
    works in_jail sh -c "$PLANT"'plant .; mv .git/HEAD .git/old' sh "$PLANTED"
    git status >/dev/null 2>&1 || true
    is_gone "$PLANTED" || report "git ran the program"
    mv .git/old .git/HEAD
    prints 1 aside
}

@test "the review names a repository whose objects are elsewhere" {
    mkdir src
    local words
    printf -v words '%q ' "$SBX_PROGRAM" --network isolated -- sh -c "$PLANT"'plant src' sh "$PLANTED"
    works script -qec "$words" /dev/null </dev/null
    [[ $output == *"src/commondir"*"leads git to other hooks"* ]] || report "should name it"
}

@test "apply holds HEAD of the project back, and the review of a layer names one below" {
    JAIL=(--network isolated --cow)
    mkdir src
    works "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c "$PLANT"'plant .; plant src; mv .git/HEAD .git/old' sh "$PLANTED"
    [[ $output == *"src/HEAD"*"makes a repository of its directory"* ]] || report "should name the one below"
    works "$SBX_PROGRAM" apply
    is_gone HEAD || report "should be held back"
    git status >/dev/null 2>&1 || true
    is_gone "$PLANTED" || report "git ran the program"
}

@test "a start in a repository without .git is refused, wherever its objects are" {
    mkdir ../other && cd ../other
    echo "ref: refs/heads/main" >HEAD
    echo "$PROJECT/.git" >commondir
    refused 125 "bare git repository" "$SBX_PROGRAM" --network isolated -- true
}
