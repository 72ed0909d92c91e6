#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A session can't write anything into a project that makes the next session fail to start or that opens a protected path. Each test
# makes its files inside, where git and the shell work, and outside, as a user may have them.

load helper

setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    git config --global user.name Tester
    git config --global user.email tester@example.org
    git config --global init.defaultBranch main
    git config --global protocol.file.allow always
    make_repository .
    git commit -q --allow-empty -m start
}
teardown() {
    chmod -R u+rwX "$HOME"
    end_test
}

starts() {
    local backend
    for backend in $(sampled 2 native bwrap); do
        works "$SBX_PROGRAM" --quiet --backend "$backend" -- sh -c '
            echo inside >>.git/config; touch .git/hooks/post-commit .envrc; exit 0'
        ! grep -q inside .git/config || leak "the configuration was written"
        [[ ! -e .git/hooks/post-commit && ! -s .envrc ]] || leak "a protected name was made"
    done
    works "$SBX_PROGRAM" --quiet --agent claude -- true
}

# locks_out_nobody SCRIPT: runs SCRIPT inside, then outside, each from the same state; the next session must start.
locks_out_nobody() {
    cp -a "$PROJECT" "$HOME/kept"
    run "$SBX_PROGRAM" --quiet -- sh -c "$1"
    starts
    start_again
    works sh -c "$1"
    starts
    start_again
    rm -rf "$HOME/kept"
}
start_again() {
    chmod -R u+rwX "$PROJECT"
    find "$PROJECT" -mindepth 1 -delete
    cp -a "$HOME/kept/." "$PROJECT"
}

add_submodule() {
    make_repository "$HOME/library"
    git -C "$HOME/library" commit -q --allow-empty -m one
    git submodule --quiet add "$HOME/library" lib
    git commit -qm "with a submodule"
}

@test "a submodule and worktrees of both repositories don't stop the next start" {
    add_submodule
    git worktree add -q tree
    git -C lib worktree add -q "$PROJECT/lib-tree"
    git -C tree submodule --quiet update --init
    starts
    for directory in . tree lib lib-tree tree/lib; do
        works in_jail git -C "$directory" commit -q --allow-empty -m inside
        fails "" in_jail git -C "$directory" config core.fsmonitor /tmp/evil
    done
}

@test "nested and bare repositories, alternates and broken links don't stop the next start" {
    add_submodule
    git clone -q . nested
    git clone -q . nested/deeper
    git clone -q --bare . bare.git
    git clone -q --shared . shared
    git init -q --separate-git-dir="$PROJECT/store" apart
    mkdir broken loop-one loop-two empty
    echo 'gitdir: ../nowhere' >broken/.git
    echo 'gitdir: ../loop-two/.git' >loop-one/.git
    echo 'gitdir: ../loop-one/.git' >loop-two/.git
    : >empty/.git
    starts
}

@test "links in place of a nested repository's files don't stop the next start" {
    locks_out_nobody 'git init -q sub; rm -rf sub/.git/hooks; ln -s /tmp sub/.git/hooks'
    locks_out_nobody 'git init -q sub; mv sub/.git real; ln -s ../real sub/.git'
    locks_out_nobody 'git init -q sub; rm sub/.git/config; ln -s config sub/.git/config'
    locks_out_nobody 'mkdir -p sub; ln -s . sub/.git'
}

@test "links in place of the submodule and worktree directories don't stop the next start" {
    locks_out_nobody 'git init -q other; ln -s ../other .git/modules; mkdir -p other/lib; touch other/lib/HEAD other/lib/config'
    locks_out_nobody 'mkdir -p elsewhere/w; ln -s ../elsewhere .git/worktrees; echo . >elsewhere/w/commondir'
    locks_out_nobody 'mkdir -p .git/modules; ln -s ../../src .git/modules/lib; mkdir -p src; touch src/HEAD'
}

@test "links at names that a wildcard protects don't stop the next start" {
    locks_out_nobody 'ln -s nowhere x.code-workspace; ln -s x.code-workspace y.code-workspace; ln -s . .zed'
    locks_out_nobody 'mkdir -p .hg; ln -s /etc/passwd .hg/hgrc; ln -s hgrc2 .hg/hgrc2'
}

@test "a masked name that is a link to the project, to nowhere or to itself does not stop the next start" {
    locks_out_nobody 'ln -s . .env; ln -s nowhere .env.local; ln -s .env.loop .env.loop; ln -s .. .env.up'
}

@test "a git configuration that names impossible paths does not stop the next start" {
    local long
    long=$(printf 'a%.0s' {1..300})
    locks_out_nobody "git init -q sub; touch file; git -C sub config core.hooksPath $long"
    locks_out_nobody 'git init -q sub; touch file; git -C sub config core.hooksPath ../file/hooks; git -C sub config include.path ../../file/x'
    locks_out_nobody 'git init -q sub; ln -s sub link; git -C sub config core.hooksPath ../link/hooks'
    locks_out_nobody 'git init -q sub; ln -s loop loop; git -C sub config core.hooksPath ../loop/hooks; git -C sub config include.path ../../loop'
    locks_out_nobody 'git init -q sub; git -C sub config core.hooksPath ..; git -C sub config include.path config'
}

@test "special and large files in place of git's files don't stop the next start" {
    locks_out_nobody 'mkdir sub other third; mkfifo sub/.git; git init -q other; rm other/.git/config; mkfifo other/.git/config other/.git/commondir
        git init -q third; head -c 3000000 /dev/zero | tr "\0" "\n" >>third/.git/config'
    locks_out_nobody 'git init -q sub; chmod 0 sub/.git; git init -q other; chmod 0 other/.git/hooks; chmod 0555 .git/info'
}

@test "endless submodules and worktrees don't stop the next start" {
    locks_out_nobody 'for i in $(seq 300); do mkdir -p .git/worktrees/$i .git/modules/m$i; echo . >.git/worktrees/$i/commondir; touch .git/modules/m$i/HEAD; done'
    locks_out_nobody 'd=.git/modules; for i in $(seq 80); do d=$d/d; done; mkdir -p $d; touch $d/HEAD'
}

@test "a link in place of the hooks directory is held and protected, or its directory is read-only" {
    mkdir elsewhere
    rm -rf .git/hooks
    ln -s ../elsewhere .git/hooks
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend")
        works in_jail git status
        run in_jail_sh 'touch elsewhere/pre-commit .git/hooks/pre-commit; rm .git/hooks; ln -sfn ../evil .git/hooks'
        fails "" test -e elsewhere/pre-commit
        prints ../elsewhere readlink .git/hooks
    done
    works in_jail git -C . status
    JAIL=(--backend native)
    works in_jail git commit -q --allow-empty -m inside
    works touch elsewhere/pre-commit
}

# shuts DIRECTORY OPTION...: a session removes the mode bits of DIRECTORY. The next start works with every protection, or it is refused with one line
# that names the directory and the command. After this command it works.
shuts() {
    local directory=$1 mode
    shift
    for mode in $(SBX_SEED=$SBX_SEED$directory sampled 3 0 0111 0222 0333 0444 0555 0666); do
        works "$SBX_PROGRAM" --quiet "$@" -- chmod "$mode" "$directory"
        run "$SBX_PROGRAM" --quiet "$@" -- sh -c 'chmod u+rwx . .git .git/info "$1"; for file in .git/config .git/hooks/post-commit .envrc \
            "$HOME/.claude/settings.json" "$HOME/.config/git/config" "$HOME/.local/bin/ls" "$HOME/.bashrc"; do echo inside >>"$file"; done; exit 0' sh "$directory"
        if ((status != 0)); then
            refused 125 "the mode of $directory keeps you out; run: chmod u+rwx $directory" "$SBX_PROGRAM" --quiet "$@" -- true
        fi
        chmod u+rwx "$directory"
        ! grep -rq inside .git .envrc "$HOME/.claude" "$HOME/.config" "$HOME/.local/bin" "$HOME/.bashrc" 2>/dev/null || leak "mode $mode of $directory opened a protected file"
        works "$SBX_PROGRAM" --quiet "$@" -- true
    done
}

@test "the next start names the command that opens a directory without permissions" {
    local backend
    mkdir -p "$HOME/.claude" "$HOME/.config/git" "$HOME/.local/bin" "$HOME/.local/share"
    echo '{}' >"$HOME/.claude/settings.json"
    echo "# shell" >"$HOME/.bashrc"
    for backend in $(sampled 2 native bwrap); do
        shuts "$HOME/.claude" --backend "$backend" --agent claude
        shuts "$PROJECT" --backend "$backend"
        shuts "$PROJECT/.git" --backend "$backend"
        shuts "$PROJECT/.git/info" --backend "$backend"
        for directory in "$HOME" "$HOME/.config" "$HOME/.local" "$HOME/.local/state" "$HOME/.local/share" "$PROJECT"; do
            shuts "$directory" --backend "$backend" --home write
        done
    done
    # Control: outside the same writes succeed.
    works sh -c 'echo outside >>.git/config && echo outside >.git/hooks/post-commit && echo outside >>"$HOME/.bashrc" && echo outside >>"$HOME/.claude/settings.json"'
}

@test "--hide of a path in a loop of links does not stop the next start" {
    works in_jail ln -s data data
    JAIL=(--hide "$PROJECT/data/raw")
    works in_jail true
}

@test "a Go directory without modules does not stop a start, also if a session made it" {
    mkdir -p "$HOME/go/bin"
    works in_jail_sh 'touch "$HOME/go/pkg/module"'
    works test ! -e "$HOME/go/pkg"
    rm -r "$HOME/go"
    works "$SBX_PROGRAM" --quiet --home write -- mkdir -p "$HOME/go/bin"
    works in_jail true
}
