#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Paths in the project that run code outside later: read-only although the project is writable, impossible to create where they are
# missing, impossible to move aside.

load helper

setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    make_repository .
    git commit -q --allow-empty -m start
}
teardown() { end_test; }

# refuses_to_create PATH: the path does not exist, can be created outside, and can't be created inside by any of the usual ways.
refuses_to_create() {
    local path=$1 directory
    directory=$(dirname "$path")
    works sh -c 'mkdir -p "$(dirname "$1")" && echo outside >"$1" && rm "$1"' sh "$path"
    [[ $directory == . ]] || rmdir -p --ignore-fail-on-non-empty "$directory"
    run in_jail_sh 'mkdir -p "$(dirname "$1")"; echo inside >"$1"; mkdir -p "$1" && echo inside >"$1/file"
        echo inside >elsewhere; mv elsewhere "$1"; ln -s /etc "$1"; rm -rf "$1"; echo inside >"$1"' "$path"
    fails "" test -s "$path"
    fails "" test -L "$path"
    rm -f elsewhere
}

# bats test_tags=smoke
@test "hooks can't be added or changed" {
    echo '#!/bin/sh' >.git/hooks/post-commit
    expect_unwritable .git/hooks/post-commit
    works sh -c 'touch .git/hooks/pre-push && rm .git/hooks/pre-push'
    fails "Read-only file system" in_jail touch .git/hooks/pre-push
    fails "" in_jail rm -r .git/hooks
    fails "" in_jail mv .git/hooks .git/aside
    works test -x .git/hooks -a -e .git/hooks/post-commit
}

@test "the repository's configuration can't be changed" {
    expect_unwritable .git/config
    works git config test.outside 1
    fails "" in_jail git config core.fsmonitor /tmp/evil
    fails "" in_jail git config core.hooksPath /tmp/evil
    fails "" in_jail_sh 'echo x >copy && mv copy .git/config'
    works sh -c '! grep -q evil .git/config'
}

@test "a missing .git/info/attributes can't be made" {
    refuses_to_create .git/info/attributes
}

@test "missing editor, agent and shell settings can't be made" {
    for path in .envrc .vscode/tasks.json .idea/workspace.xml .devcontainer/devcontainer.json \
        .claude/settings.json .claude/settings.local.json .mcp.json .agent-sandbox.toml; do
        refuses_to_create "$path"
    done
}

@test "files that editors and agents run when they open the folder can't be made" {
    mkdir -p .claude
    for file in .claude/commands/x.md .claude/agents/x.md .claude/skills/x/SKILL.md .helix/languages.toml \
        .kiro/settings/mcp.json .roo/mcp.json .qwen/settings.json; do
        works sh -c 'mkdir -p "$(dirname "$1")" && echo control >"$1" && rm "$1" && rmdir "$(dirname "$1")"' sh "$file"
        fails "" in_jail_sh 'mkdir -p "$(dirname "$1")" 2>/dev/null; echo planted >"$1"' "$file"
    done
}

@test "existing files that other tools run are read-only, also below .hg and .jj" {
    mkdir -p .hg .jj/repo .agents .windsurf .zed .amazonq
    for file in mise.toml .mise.local.toml .dir-locals.el .irbrc .pylintrc .nvimrc .aider.conf.yml .agents/x .windsurf/hooks.json crush.json .zed/settings.json .amazonq/mcp.json; do
        echo mine >"$file"
        expect_unwritable "$PROJECT/$file"
    done
    for file in .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml; do
        works sh -c 'echo control >"$1" && rm "$1"' sh "$file"
        fails "" in_jail_sh 'echo planted >"$1"' "$file"
    done
    rm -rf .hg
    works in_jail test ! -e .hg
}

# hooked DIRECTORY: settings of Mercurial with a program that runs at each `hg status` outside.
hooked() { printf '[hooks]\npre-status = touch %q\n' "$HOME/planted" >"$1"; }
hg_runs_it() { rm -f "$HOME/planted"; hg status >/dev/null 2>&1; [[ -e $HOME/planted ]]; }

@test "Mercurial outside runs nothing that a session names in .hg, and works inside" {
    local backend
    hg init
    echo 1 >file && hg add -q file && hg commit -q -u Tester -m first
    cp -a .hg "$HOME/elsewhere" && hooked "$HOME/elsewhere/hgrc"
    hooked .hg/hgrc-not-shared
    works hg_runs_it
    rm .hg/hgrc-not-shared && cp .hg/requires "$HOME/requires"
    echo shared >>.hg/requires && printf %s "$HOME/elsewhere" >.hg/sharedpath
    works hg_runs_it
    rm .hg/sharedpath && cp "$HOME/requires" .hg/requires
    cp -a "$HOME/elsewhere" other
    for backend in native bwrap; do
        JAIL=(--network isolated --backend "$backend")
        works in_jail_sh 'echo 2 >>file; hg commit -q -u Agent -m second && hg status && hg log -l 1'
        for name in hgrc hgrc-not-shared sharedpath; do
            run in_jail_sh 'cp other/hgrc ".hg/$1"; rmdir ".hg/$1"; mv other/hgrc ".hg/$1"; echo planted >".hg/$1"' "$name"
            works test ! -s ".hg/$name"
        done
        run in_jail_sh 'echo shared >>.hg/requires; printf %s "$PWD/other" >.hg/sharedpath'
        ! hg_runs_it || report "$backend: Mercurial ran the program"
        cp "$HOME/requires" .hg/requires
        works hg status
    done
}

@test "existing editor, agent and shell settings can be read, not changed" {
    mkdir .vscode .claude
    for path in .envrc .vscode/tasks.json .claude/settings.json .mcp.json; do
        echo "of the host" >"$path"
        expect_readable "$path"
        expect_unwritable "$path"
        run in_jail_sh 'rm -rf "$1"; mv "$1" aside; ln -sf /etc/passwd "$1"' "$path"
        works grep -q "of the host" "$path"
    done
}

@test "the project's own rules can't be changed from inside" {
    echo '# of the host' >.agent-sandbox.toml
    works sh -c 'echo "# outside" >>.agent-sandbox.toml'
    fails "Read-only file system" in_jail_sh 'echo "# inside" >>.agent-sandbox.toml'
    works sh -c '! grep -q inside .agent-sandbox.toml'
}

@test "an ancestor can't be renamed aside" {
    mkdir .vscode .claude
    echo "of the host" >.vscode/tasks.json
    echo "{}" >.claude/settings.json
    for directory in .git .vscode .claude; do
        works sh -c 'mv "$1" "$1.aside" && mv "$1.aside" "$1"' sh "$directory"
        fails "" in_jail mv "$directory" "$directory.aside"
        works test -d "$directory"
        fails "" test -e "$directory.aside"
    done
}

@test "the project itself can't be moved aside" {
    mkdir "$PROJECT/inner"
    cd inner
    fails "" in_jail mv "$PROJECT/inner" "$PROJECT/aside"
    works test -d "$PROJECT/inner"
}

@test "a hard link does not avoid the protection" {
    works sh -c 'ln .git/config alias && rm alias'
    run in_jail_sh 'ln .git/config alias && echo inside >>alias'
    works sh -c '! grep -q inside .git/config'
}

@test "a symbolic link does not avoid the protection" {
    works in_jail_sh 'ln -s .git/hooks alias'
    fails "Read-only file system" in_jail touch alias/post-checkout
    fails "" test -e .git/hooks/post-checkout
}

@test "a protected name that is a symbolic link can't be written through or replaced" {
    mkdir editor
    echo "of the host" >editor/tasks.json
    ln -s editor .vscode
    run in_jail_sh 'echo inside >>.vscode/tasks.json; rm -f .vscode; mkdir .vscode && echo inside >.vscode/tasks.json'
    prints "of the host" cat .vscode/tasks.json
    works test -L .vscode
}

@test "/proc/self/fd and /proc/self/cwd do not avoid the protection" {
    run in_jail_sh 'echo inside >/proc/self/cwd/.git/hooks/evil; exec 8<.git/hooks; echo inside >/proc/self/fd/8/evil'
    fails "" test -e .git/hooks/evil
}

@test "a protected directory can't be the project" {
    local directory backend
    mkdir -p .vscode .claude/skills/one .cursor .git/worktrees .husky/_ other/.vscode/deep .claude/worktrees/one
    for directory in .vscode .claude .claude/skills .claude/skills/one .cursor .git .git/hooks .git/refs/heads .husky .husky/_; do
        cd "$PROJECT/$directory"
        works sh -c 'echo outside >new && rm new' # the control
        refused 125 "start in the project's root: cd $PROJECT" "$SBX_PROGRAM" --quiet -- touch inside
        cd "$PROJECT"
        refused 125 "start in the project's root: cd $PROJECT" "$SBX_PROGRAM" --quiet --project "$directory" -- touch inside
        fails "" test -e "$directory/inside"
    done
    cd other/.vscode/deep
    refused 125 "start in the project's root: cd $PROJECT/other" "$SBX_PROGRAM" --quiet -- touch inside
    # Reading is harmless, and an ordinary directory with a dot is not protected.
    works "$SBX_PROGRAM" --quiet --read-only -- true
    mkdir "$PROJECT/.other"
    cd "$PROJECT/.other"
    works in_jail touch inside
}

@test "a bare repository can't be the project, a worktree of it can" {
    git clone -q --bare . "$HOME/bare.git"
    cd "$HOME/bare.git"
    works touch hooks/pre-push # the control
    refused 125 "it is a bare git repository, with hooks that git runs; work in a clone" "$SBX_PROGRAM" --quiet -- touch hooks/pre-commit
    [[ $stderr == *"run: rm -r $HOME/bare.git/HEAD" ]] || report "no command: $stderr"
    fails "" test -e hooks/pre-commit
    works "$SBX_PROGRAM" --quiet --read-only -- git log
    git worktree add -q "$HOME/tree"
    cd "$HOME/tree"
    works in_jail git -c user.name=Tester -c user.email=tester@example.org commit -q --allow-empty -m inside
    fails "" in_jail touch "$HOME/bare.git/hooks/pre-commit"
}

@test "a repository in an agent's directory is a project of its own" {
    mkdir .claude
    git worktree add -q .claude/worktrees/one
    git init -q .vscode
    for directory in .claude/worktrees/one .vscode; do
        cd "$PROJECT/$directory"
        works in_jail touch file
    done
}

@test "project.unprotect opens a directory as a project" {
    mkdir -p "$HOME/.config/agent-sandbox" .vscode
    printf '[project]\nunprotect = [".vscode"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    cd .vscode
    works in_jail touch file
}

@test "project.unprotect makes one entry writable" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nunprotect = [".envrc"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail_sh 'echo inside >.envrc'
    prints inside cat .envrc
    fails "" in_jail touch .git/hooks/pre-commit
}

@test "project.protect adds one entry" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nprotect = ["deploy.sh"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    echo "of the host" >deploy.sh
    expect_unwritable deploy.sh
}
