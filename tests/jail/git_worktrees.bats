#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A worktree that existed at the start of a session can be removed inside as outside, and only as a whole: its files stay protected
# while they exist.

load helper

setup() {
    start_test
    git config --global user.name Tester
    git config --global user.email tester@example.org
    git config --global init.defaultBranch main
    PLANTED=$HOME/planted
    make_repository .
    mkdir dir
    echo 1 >file
    echo 1 >dir/file
    git add file dir
    git commit -qm first
    git worktree add -q tree
    cp -a "$PROJECT" "$HOME/kept"
}
teardown() { end_test; }

start_again() {
    find "$PROJECT" -mindepth 1 -delete
    cp -a "$HOME/kept/." "$PROJECT"
}

# What the repository is, as text.
describe() {
    find . -path ./.git/objects -prune -o -print | sort
    git worktree list --porcelain
    git for-each-ref
    git fsck --no-progress 2>&1
}

# same SCRIPT: the script has the same output, the same exit code and leaves the same files inside and outside.
same() {
    sh -c "$1" >"$HOME/outside.out" 2>&1 && echo 0 >>"$HOME/outside.out" || echo "$?" >>"$HOME/outside.out"
    describe >"$HOME/outside"
    start_again
    in_jail_sh "$1" >"$HOME/inside.out" 2>"$HOME/inside.err" && echo 0 >>"$HOME/inside.out" || echo "$?" >>"$HOME/inside.out"
    wait_until test ! -e .git/config.agent-sandbox
    describe >"$HOME/inside"
    works diff "$HOME/outside" "$HOME/inside"
    works diff "$HOME/outside.out" <(cat "$HOME/inside.err" "$HOME/inside.out")
    start_again
}

removals() {
    JAIL=(--backend "$1")
    same 'git worktree remove tree'
    same 'git worktree add -q second && git worktree remove tree && git worktree list --porcelain | grep -c ^worktree'
    same 'git -C tree worktree remove ../tree'
    same 'git worktree remove tree && git worktree add -q tree && git worktree remove tree'
    same 'git worktree remove tree && git worktree add -q tree && GIT_AUTHOR_DATE=@1800000000+0000 GIT_COMMITTER_DATE=@1800000000+0000 git -C tree commit -q --allow-empty -m again && git -C tree log --format=%s'
    same 'git worktree remove tree && git branch -d tree -q'
    same 'cd tree/dir && git worktree remove "$OLDPWD/tree"'
}
@test "git worktree remove of a worktree from before the session works as outside, native" { removals native; }
@test "git worktree remove of a worktree from before the session works as outside, bubblewrap" { removals bwrap; }

@test "git refuses to remove a changed or a locked worktree inside as outside, and --force removes it" {
    same 'echo 2 >tree/file; git worktree remove tree'
    same 'echo 2 >tree/new; git worktree remove tree'
    same 'git worktree lock tree; git worktree remove tree'
    same 'echo 2 >tree/file; git worktree remove --force tree'
    same 'git worktree lock tree; git worktree remove --force --force tree'
}

@test "two worktrees are removed one after the other, also one with its own configuration" {
    git config extensions.worktreeConfig true
    git worktree add -q other
    git -C other config --worktree user.name Other
    rm -rf "$HOME/kept" && cp -a "$PROJECT" "$HOME/kept"
    same 'git worktree remove other && git worktree remove tree'
}

@test "the removal of a worktree is in the record" {
    works in_jail git worktree remove tree
    prints "allow worktree $PROJECT/tree" sh -c '"$SBX_PROGRAM" log --json | python3 -c "import json, sys
for line in sys.stdin:
    event = json.loads(line)
    if event[\"kind\"] == \"git\": print(event[\"verdict\"], event[\"name\"], event[\"path\"])"'
}

# ---- What must not work ----------------------------------------------------------------------------------------------

make_trap() {
    printf '#!/bin/sh\ntouch "%s"\n' "$PLANTED" >"$HOME/trap"
    chmod +x "$HOME/trap"
    cp "$HOME/trap" trap
}

# plant SCRIPT: outside, the script makes git run the trap in the worktree; inside it does not. Other scripts run before in a session.
plant() {
    local script
    for script in "$@"; do sh -c "$script" >/dev/null 2>&1 || true; done
    git -C tree commit -q --allow-empty -m change >/dev/null 2>&1 || true
    [[ -e $PLANTED ]] || { echo "the attempt does nothing even outside: $*" >&2; return 1; }
    rm "$PLANTED"
    start_again
    make_trap
    for script in "$@"; do run in_jail_sh "$script"; done
    git -C tree commit -q --allow-empty -m change >/dev/null 2>&1 || true
    [[ ! -e $PLANTED ]] || { echo "git ran what was planted: $*" >&2; return 1; }
    start_again
    make_trap
}

evil='cp -r .git evil; cp trap evil/hooks/pre-commit'

@test "a worktree's files can't be removed one by one, not even by a program with the name of git" {
    make_trap
    # A copy of Python with this name is git for the keeper.
    cp "$(readlink -f "$(command -v python3)")" git-like
    git add git-like trap && git commit -qm more
    rm -rf "$HOME/kept" && cp -a "$PROJECT" "$HOME/kept"
    local unlink='./git-like -c "import os, sys
for name in sys.argv[1:]:
    try: os.unlink(name)
    except OSError: pass"'
    plant "$evil; $unlink tree/.git; echo \"gitdir: \$PWD/evil\" >tree/.git"
    plant "$evil; rm -f tree/.git; echo \"gitdir: \$PWD/evil\" >tree/.git"
    plant "$evil; $unlink .git/worktrees/tree/commondir; echo \"\$PWD/evil\" >.git/worktrees/tree/commondir"
    plant "$evil; d=.git/worktrees/tree; cp -r \$d new; $unlink \$d/*; rm -rf \$d; python3 -c 'import os; os.rmdir(\".git/worktrees/tree\")'
        mv new \$d; echo \"\$PWD/evil\" >\$d/commondir"
    # Half of it: the directory of the working tree is emptied, except for one file.
    plant "$evil; cp tree/file keep; $unlink tree/.git tree/dir/file; rmdir tree/dir; ./git-like -c 'import os; os.rmdir(\"tree\")'
        echo \"gitdir: \$PWD/evil\" >tree/.git"
}

@test "the directory of a worktree that is elsewhere can't be removed and made again, also not over two sessions" {
    git worktree remove tree
    git worktree add -q "$HOME/elsewhere" tree
    ln -s "$HOME/elsewhere" "$HOME/tree"
    make_trap
    cp -a "$HOME/elsewhere" "$HOME/kept-tree"
    local forge="echo \$PWD/fake/.git >.git/worktrees/elsewhere/gitdir; mkdir fake; echo gitdir: \$PWD/.git/worktrees/elsewhere >fake/.git"
    local again="cp -r .git evil; cp trap evil/hooks/pre-commit; cp -r .git/worktrees/elsewhere new; rm -rf fake/*
        git worktree remove --force fake; mkdir -p .git/worktrees; cp -r new .git/worktrees/elsewhere; echo \$PWD/evil >.git/worktrees/elsewhere/commondir"
    cp -a "$PROJECT" "$HOME/kept2"
    sh -c "$forge"
    sh -c "$again" 2>/dev/null || true
    git -C "$HOME/elsewhere" commit -q --allow-empty -m change || true
    works test -e "$PLANTED"
    rm "$PLANTED"
    find "$PROJECT" -mindepth 1 -delete
    cp -a "$HOME/kept2/." "$PROJECT"
    run in_jail_sh "$forge"
    run in_jail_sh "$again"
    run git -C "$HOME/elsewhere" commit -q --allow-empty -m change
    works test ! -e "$PLANTED"
}

@test "the directory of a worktree that the user has moved meanwhile can't be removed and made again" {
    make_trap
    cp "$(readlink -f "$(command -v python3)")" git-like
    local again='cp -r .git evil; cp trap evil/hooks/pre-commit; cp -r .git/worktrees/tree new; mkdir tree; echo "gitdir: $PWD/.git/worktrees/tree" >tree/.git
        until ! echo >>tree/.git || [ -e outside ]; do sleep 0.02; done
        rm -rf .git/worktrees/tree/logs .git/worktrees/tree/refs
        ./git-like -c "import os, sys
for name in sys.argv[1:]:
    try: os.rmdir(name) if os.path.isdir(name) else os.unlink(name)
    except OSError: pass" tree/.git tree .git/worktrees/tree/* .git/worktrees/tree
        rm -rf .git/worktrees/tree; cp -r new .git/worktrees/tree; echo "$PWD/evil" >.git/worktrees/tree/commondir'
    git worktree move tree "$HOME/moved"
    # Control: outside it leads git to the hooks.
    touch outside
    sh -c "$again" >/dev/null 2>&1 || true
    git -C "$HOME/moved" commit -q --allow-empty -m change || true
    works test -e "$PLANTED"
    rm -rf "$PLANTED" "$HOME/moved"
    start_again
    make_trap
    cp "$(readlink -f "$(command -v python3)")" git-like
    start_jail "touch ready; until [ -e go ]; do sleep 0.02; done; $again"
    git worktree move tree "$HOME/moved"
    touch go
    end_of_jail
    git -C "$HOME/moved" commit -q --allow-empty -m change || true
    works test ! -e "$PLANTED"
}

@test "what a session makes in the place of a removed worktree is named by the review" {
    make_trap
    local words
    printf -v words '%q ' "$SBX_PROGRAM" -- sh -c 'cp -r .git evil; cp trap evil/hooks/pre-commit; git worktree remove tree
        mkdir tree; echo "gitdir: $PWD/evil" >tree/.git'
    works script -qec "$words" /dev/null </dev/null
    [[ $output == *"evil/hooks/pre-commit: a hook that git runs"* ]] || report "should name the hook"
    [[ $output != *"replaced outside"* ]] || report "should not report a removal outside"
}
