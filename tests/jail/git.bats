#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Git works in the jail as outside, and no change made in the jail makes git run a program outside later. Each test plants outside
# first, where it works.

load helper

setup() {
    start_test
    configure_git
    git config --global protocol.file.allow always
    PLANTED=$HOME/planted
    make_repository .
    echo 1 >file
    git add file
    git commit -qm first
}
teardown() { end_test; }

clean() { prints "" git status --porcelain; }

# The program that an attacker wants git to run: it creates a file that only the host sees.
make_trap() {
    printf '#!/bin/sh\ntouch "%s"\ncat >/dev/null\n' "$PLANTED" >"$1"
    chmod +x "$1"
}

# The user's next git commands, in every working tree.
use_git() {
    local tree
    for tree in "$@"; do
        git -C "$tree" status >/dev/null 2>&1 || true
        echo "$RANDOM" >"$tree/change"
        git -C "$tree" add change >/dev/null 2>&1 || true
        git -C "$tree" commit -qm change >/dev/null 2>&1 || true
        git -C "$tree" checkout -qB used >/dev/null 2>&1 || true
        git -C "$tree" diff HEAD~1 >/dev/null 2>&1 || true
    done
}

# plant SCRIPT [TREE...]: run outside, the script makes git run the trap; run inside, it does not. Both start from the same state.
plant() {
    local script=$1
    shift
    (($#)) || set -- .
    cp -a "$PROJECT" "$HOME/kept"
    sh -c "$script" >/dev/null 2>&1 || true
    use_git "$@"
    [[ -e $PLANTED ]] || { echo "the attempt does nothing even outside: $script" >&2; return 1; }
    start_again
    run in_jail_sh "$script"
    use_git "$@"
    [[ ! -e $PLANTED ]] || { echo "LEAK: git ran what was planted: $script" >&2; return 1; }
    start_again
    rm -rf "$HOME/kept"
}
start_again() {
    rm -rf "$PLANTED"
    find "$PROJECT" -mindepth 1 -delete
    cp -a "$HOME/kept/." "$PROJECT"
}

# ---- What must work ------------------------------------------------------------------------------------------------

# bats test_tags=smoke
@test "commit, branch, checkout, stash, merge, rebase, tag, cherry-pick and gc work" {
    works in_jail_sh 'set -e
        git checkout -qb topic; echo 2 >>file; git commit -qam second
        echo 3 >>file; git stash -q; git stash pop -q; git checkout -q file
        git checkout -q main; echo a >other; git add other; git commit -qm other
        git merge -q -m merged topic; git tag v1; git tag -a v2 -m two
        git checkout -qb late HEAD~1; echo b >third; git add third; git commit -qm third
        git rebase -q main; git checkout -q main; git cherry-pick late
        git reset -q --hard HEAD~1; git gc -q; git fsck; git reflog; git bisect start; git bisect reset'
    prints "v1
v2" git tag
    prints merged git log -1 --format=%s
    clean
    works git fsck
}

@test "no message of git's is about the jail" {
    works in_jail_sh 'git status && git checkout -b topic && git commit --allow-empty -m x && git switch main && git merge topic &&
        git log --oneline && git stash list && git branch -v && git remote -v && git gc'
    [[ $output != *busy* && $output != *"Read-only"* && $output != *warning* && $output != *error* ]] || report "complains"
}

@test "branches from remote ones, fetch, pull and push work" {
    git clone -q --bare . "$HOME/origin.git"
    git -C "$HOME/origin.git" branch topic
    git remote add origin "$HOME/origin.git"
    git fetch -q
    JAIL=(--rw "$HOME/origin.git")
    for command in "checkout -b one origin/topic" "checkout topic" "switch -c two origin/topic" "branch three origin/topic"; do
        works in_jail_sh "git $command"
        [[ $output != *error* ]] || report "git $command complains"
    done
    works in_jail_sh 'git fetch -q && git checkout -q one && git commit -q --allow-empty -m pushed && git push -q origin one && git pull -q origin main'
    prints pushed git -C "$HOME/origin.git" log -1 --format=%s one
    works in_jail_sh 'git commit -q --allow-empty -m again && git push -u origin one'
    prints origin git config branch.one.remote
    prints again git -C "$HOME/origin.git" log -1 --format=%s one
}

@test "deleting and renaming a branch works; a setting that is refused fails with git's own message" {
    git branch gone
    works in_jail_sh 'git branch -d gone && git branch -m renamed && git config user.name Other'
    prints Other git config user.name
    fails "could not write config file" in_jail git config core.pager x
    fails "could not set" in_jail git remote add x y
    works test ! -e .git/config.lock
}

@test "a worktree can be added in the project, used inside and outside, and removed" {
    works in_jail_sh 'git worktree add -q tree && cd tree && echo 2 >new && git add new && git commit -qm inside'
    prints inside git -C tree log -1 --format=%s
    works git worktree remove tree
    works in_jail_sh 'git worktree add -q other && git worktree move other moved && git worktree remove moved'
    prints "$PROJECT" sh -c 'git worktree list --porcelain | sed -n "s/^worktree //p"'
}

@test "an existing worktree can be committed in, from the project and as the project" {
    git worktree add -q tree
    works in_jail_sh 'cd tree && git commit -q --allow-empty -m inside'
    cd tree
    works in_jail git commit -q --allow-empty -m again
    prints again git log -1 --format=%s
}

@test "worktrees with a configuration of their own work" {
    git config extensions.worktreeConfig true
    git worktree add -q tree
    works in_jail git commit -q --allow-empty -m inside
    works in_jail_sh 'cd tree && git commit -q --allow-empty -m inside'
    fails "could not write config file" in_jail git config --worktree core.fsmonitor x
    works test ! -e .git/config.worktree -a ! -e .git/commondir
}

@test "an initialised submodule can be updated and committed in" {
    make_repository "$HOME/library"
    git -C "$HOME/library" commit -q --allow-empty -m one
    git submodule --quiet add "$HOME/library" lib
    git commit -qm "with a submodule"
    git -C "$HOME/library" commit -q --allow-empty -m two
    JAIL=(--ro "$HOME/library")
    works in_jail_sh 'git submodule update && git submodule update --remote && cd lib && git checkout -q -b topic &&
        echo 1 >new && git add new && git commit -qm inside && cd .. && git add lib && git commit -qm bump'
    prints inside git -C lib log -1 --format=%s
    clean
}

@test "a clone into a directory of the project works" {
    make_repository "$HOME/library"
    git -C "$HOME/library" commit -q --allow-empty -m one
    JAIL=(--ro "$HOME/library")
    works in_jail_sh 'git clone -q "$1/library" clone && cd clone && git config user.name x && git commit -q --allow-empty -m inside' "$HOME"
    prints inside git -C clone log -1 --format=%s
}

@test "a repository with its directory elsewhere in the project works" {
    git init -q --separate-git-dir="$PROJECT/store" apart
    git -C apart config core.worktree "$PROJECT/apart"
    cd apart
    works in_jail_sh 'git --version'
    cd ..
    works in_jail_sh 'cd apart && git commit -q --allow-empty -m inside'
    prints inside git -C apart log -1 --format=%s
}

@test "a session leaves no files in any repository, and two sessions don't disturb each other" {
    git worktree add -q tree
    find .git -not -path '*/objects/*' | sort >"$HOME/before"
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; rm go; git status >/dev/null || touch broken'
    works in_jail git status
    works git status
    touch go
    end_of_jail
    rm -f ready
    fails "" test -e broken
    wait_until sh -c 'find .git -not -path "*/objects/*" | sort | cmp -s - "$1/before"' sh "$HOME"
}

# ---- What must not work ----------------------------------------------------------------------------------------------

@test "planted hooks do not run outside: by file, by directory, by link" {
    make_trap trap
    plant 'cp trap .git/hooks/pre-commit'
    plant 'mv .git/hooks .git/aside; mkdir .git/hooks; cp trap .git/hooks/pre-commit'
    plant 'rm -rf .git/hooks; mkdir evil; cp trap evil/pre-commit; ln -s ../evil .git/hooks'
}

@test "a changed configuration runs nothing outside: with git, with an editor, by rename, through another file" {
    make_trap trap
    plant 'git config core.fsmonitor "$PWD/trap"'
    plant 'git config --file .git/config core.fsmonitor "$PWD/trap"'
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>.git/config'
    plant 'cp .git/config c; printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>c; mv c .git/config'
    plant 'mkdir evil; cp trap evil/pre-commit; git config core.hooksPath "$PWD/evil"'
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >c; git config include.path "$PWD/c"'
    plant 'ln .git/config alias && printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>alias'
    plant 'cd .git && GIT_DIR=. git config core.fsmonitor "$OLDPWD/trap"'
}

@test "a planted config.worktree runs nothing outside where worktrees have configurations" {
    git config extensions.worktreeConfig true
    git worktree add -q tree
    make_trap trap
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >.git/config.worktree'
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >.git/worktrees/tree/config.worktree' tree
}

@test "a planted config.worktree runs nothing outside after git sparse-checkout turns it on" {
    local tree
    git worktree add -q tree
    make_trap trap
    for tree in .git .git/worktrees/tree; do
        # Control: outside, what was planted runs as soon as the extension is on.
        works sh -c 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >"$1/config.worktree"' sh "$tree"
        git config extensions.worktreeConfig true
        use_git . tree
        [[ -e $PLANTED ]] || report "the attempt does nothing even outside"
        git config --unset extensions.worktreeConfig
        rm "$PLANTED" "$tree/config.worktree"
        run in_jail_sh 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >"$1/config.worktree"' "$tree"
        git config extensions.worktreeConfig true
        use_git . tree
        [[ ! -e $PLANTED ]] || leak "git ran what was planted in $tree"
        git config --unset extensions.worktreeConfig
    done
    works test ! -e .git/worktrees/tree/config.worktree
}

@test "attributes run nothing, because no filter can be configured" {
    make_trap trap
    plant 'echo "* filter=evil" >.gitattributes; git config filter.evil.clean "$PWD/trap"'
    plant 'echo "* filter=evil" >.git/info/attributes; git config filter.evil.clean "$PWD/trap"'
}

@test "a planted commondir runs nothing outside" {
    make_trap trap
    plant 'cp -r .git evil; printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>evil/config; echo ../evil >.git/commondir'
}

@test "a repository that is exchanged or renamed runs nothing outside" {
    make_trap trap
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; mv .git aside; mv evil .git'
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; mv .git aside; echo "gitdir: evil" >.git'
}

@test "a repository apart from its working tree, both in the project, runs nothing outside and works inside" {
    local backend
    git init -q --separate-git-dir="$PROJECT/apart.git" apart
    make_trap "$HOME/trap"
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        plant "git -C apart config core.fsmonitor $HOME/trap" apart
        plant "cp $HOME/trap apart.git/hooks/pre-commit || printf '#!/bin/sh\ntouch $PLANTED\n' >apart.git/hooks/pre-commit; chmod +x apart.git/hooks/pre-commit" apart
        plant "mv apart.git old; cp -a old apart.git; git -C apart config core.fsmonitor $HOME/trap" apart
        works in_jail_sh 'cd apart && git commit -q --allow-empty -m inside && git config user.name Inside'
        prints Inside git -C apart config user.name
    done
}

@test "a worktree's changed link to its repository runs nothing outside" {
    git worktree add -q tree
    make_trap trap
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; echo "$PWD/evil" >.git/worktrees/tree/commondir' tree
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; echo "gitdir: $PWD/evil" >tree/.git' tree
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; cp -r .git/worktrees/tree w; echo "$PWD/evil" >w/commondir
        mv .git/worktrees/tree gone; mv w .git/worktrees/tree' tree
    plant 'cp -r .git evil; cp trap evil/hooks/pre-commit; cp -r .git/worktrees w; echo "$PWD/evil" >w/tree/commondir
        mv .git/worktrees gone; mv w .git/worktrees' tree
}

# A push runs the hooks of the repository that it reaches. Without a remote of this name in the configuration, git takes its address
# from one of these directories (git-fetch(1), section Remotes).
@test "a planted address in .git/remotes or .git/branches leads no push outside to a repository of the project" {
    make_trap trap
    git init -q --bare evil.git
    cp trap evil.git/hooks/pre-receive
    local way push='git push -q origin HEAD:refs/heads/x' directory
    for way in 'echo "URL: $PWD/evil.git" >.git/remotes/origin' 'echo "$PWD/evil.git" >.git/branches/origin'; do
        directory=${way##*>} directory=${directory%/*}
        rm -rf "$directory"
        mkdir "$directory"
        sh -c "$way"
        $push 2>/dev/null || true
        [[ -e $PLANTED ]] || report "the attempt does nothing even outside: $way"
        rm "$PLANTED" "$directory/origin"
        git -C evil.git update-ref -d refs/heads/x
        # With the directory, with another one in its place, and without it.
        fails "Read-only file system" in_jail_sh "$way"
        run in_jail_sh "mv $directory aside; mkdir $directory; $way"
        rmdir "$directory"
        run in_jail_sh "mkdir -p $directory; $way"
        fails "" $push
        works test ! -e "$PLANTED" -a ! -e "$directory"
    done
}

@test "a submodule's repository runs nothing outside: hooks, configuration, common directory, name" {
    make_repository "$HOME/library"
    git -C "$HOME/library" commit -q --allow-empty -m one
    git submodule --quiet add "$HOME/library" lib
    git commit -qm "with a submodule"
    rm -rf .git/modules/lib/hooks
    make_trap trap
    plant 'mkdir -p .git/modules/lib/hooks; cp trap .git/modules/lib/hooks/pre-commit' lib
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>.git/modules/lib/config' lib
    plant 'cp -r .git/modules/lib evil; printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >>evil/config
        echo "$PWD/evil" >.git/modules/lib/commondir' lib
    plant 'cp -r .git/modules m; mkdir -p m/lib/hooks; cp trap m/lib/hooks/pre-commit; mv .git/modules gone; mv m .git/modules' lib
    plant 'cp -r .git/modules/lib evil; mkdir -p evil/hooks; cp trap evil/hooks/pre-commit
        git config -f evil/config core.worktree "$PWD/lib"; echo "gitdir: $PWD/evil" >lib/.git' lib
}

@test "hooks and configuration of a second repository in the project run nothing outside" {
    make_repository second
    git -C second commit -q --allow-empty -m start
    make_trap trap
    plant 'cp trap second/.git/hooks/pre-commit' second
    plant 'git -C second config core.fsmonitor "$PWD/trap"' second
    plant 'cp -r second/.git evil; cp trap evil/hooks/pre-commit; echo "$PWD/evil" >second/.git/commondir' second
}

@test "files that the configuration names run nothing outside: included files and hooks elsewhere" {
    git config include.path ../shared.conf
    git config core.hooksPath tools/hooks
    mkdir -p tools/hooks
    touch shared.conf tools/hooks/README
    make_trap trap
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >shared.conf'
    plant 'cp trap tools/hooks/pre-commit'
    plant 'mv tools gone; mkdir -p tools/hooks; cp trap tools/hooks/pre-commit'
    rm -r shared.conf tools
    works in_jail git status
    plant 'printf "[core]\nfsmonitor = %s/trap\n" "$PWD" >shared.conf'
    plant 'mkdir -p tools/hooks; cp trap tools/hooks/pre-commit'
    works test ! -e shared.conf -a ! -e tools
}

@test "hooks in the project that the user's own configuration names do not run outside" {
    git config --global core.hooksPath githooks-of-mine
    make_trap trap
    plant 'mkdir -p githooks-of-mine; cp trap githooks-of-mine/pre-commit'
}

@test "a symbolic link in place of the hooks directory is held, unless project.unprotect names it" {
    mkdir elsewhere
    rm -rf .git/hooks
    ln -s ../elsewhere .git/hooks
    make_trap trap
    plant 'cp trap elsewhere/pre-commit'
    plant 'mkdir evil; cp trap evil/pre-commit; ln -sfn ../evil .git/hooks'
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nunprotect = [".git/hooks"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail touch elsewhere/pre-commit
}
