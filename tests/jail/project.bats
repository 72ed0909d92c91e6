#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Exactly one directory is writable: the project, at its own physical path; and git works in it.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "the project is writable and what is written stays" {
    works in_jail_sh 'pwd; mkdir sub && echo content >sub/file'
    [[ $output == "$PROJECT" ]]
    prints content cat sub/file
}

@test "files that the jail makes belong to the caller" {
    works in_jail touch made
    prints "$SBX_USER" stat -c %U made
    prints "$(id -u):$(id -g)" in_jail stat -c %u:%g made
}

@test "--project names another directory; the working directory stays where it is inside it" {
    mkdir -p "$HOME/elsewhere/sub"
    JAIL=(--project "$HOME/elsewhere")
    works in_jail touch "$HOME/elsewhere/made"
    works test -e "$HOME/elsewhere/made"
    cd "$HOME/elsewhere/sub"
    prints "$HOME/elsewhere/sub" in_jail pwd
}

@test "--read-only: the project can be read, not written" {
    echo content >file
    JAIL=(--read-only)
    expect_readable "$PROJECT/file"
    expect_unwritable "$PROJECT/file"
    fails "Read-only file system" in_jail touch new
    fails "Read-only file system" in_jail mkdir new
    fails "Read-only file system" in_jail rm -f file
    fails "Read-only file system" in_jail mv file file2
}

@test "a project reached through a symbolic link is mounted at its physical path" {
    mkdir "$HOME/physical"
    ln -s physical "$HOME/logical"
    cd "$HOME/logical"
    works in_jail sh -c 'touch made; pwd -P'
    [[ $output == "$HOME/physical" ]]
    works test -e "$HOME/physical/made"
    JAIL=(--project "$HOME/logical")
    works in_jail touch "$HOME/physical/again"
}

@test "commit, branch and merge work in a repository" {
    make_repository .
    works in_jail_sh 'echo 1 >file && git add file && git commit -qm first && git checkout -qb topic &&
        echo 2 >file && git commit -qam second && git checkout -q main && git merge -q topic && git gc -q'
    prints second git log -1 --format=%s
    prints "" git status --porcelain
}

@test "commit works in a clone" {
    make_repository "$HOME/origin"
    git -C "$HOME/origin" commit -q --allow-empty -m start
    git clone -q "$HOME/origin" "$PROJECT/clone"
    cd clone
    works in_jail git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m inside
    prints inside git log -1 --format=%s
}

@test "commit works in a worktree whose repository lies elsewhere" {
    make_repository "$HOME/origin"
    git -C "$HOME/origin" commit -q --allow-empty -m start
    git -C "$HOME/origin" worktree add -q -b topic "$PROJECT/tree"
    echo secret >"$HOME/origin/unrelated"
    cd tree
    works in_jail_sh 'echo 1 >file && git add file && git commit -qm inside'
    prints inside git log -1 --format=%s
    # The repository is visible inside, the other working tree is not.
    expect_hidden "$HOME/origin/unrelated"
    # And the files in it that run code are unchanged.
    expect_unwritable "$HOME/origin/.git/config"
    fails "" in_jail sh -c 'echo evil >"$HOME/origin/.git/hooks/pre-commit"'
    fails "" test -e "$HOME/origin/.git/hooks/pre-commit"
}

@test "commit works in a submodule" {
    make_repository "$HOME/library"
    git -C "$HOME/library" commit -q --allow-empty -m start
    make_repository .
    git -c protocol.file.allow=always submodule --quiet add "$HOME/library" lib
    git commit -qm "with a submodule"
    cd lib
    git config user.name T && git config user.email t@example.org
    works in_jail_sh 'echo 1 >file && git add file && git commit -qm inside'
    prints inside git log -1 --format=%s
    expect_unwritable "$PROJECT/.git/modules/lib/config"
}

@test "a gitdir elsewhere works when it names the project as its worktree" {
    git init -q --separate-git-dir "$HOME/store.git" "$PROJECT/apart"
    cd apart
    # Threat: a .git file is content of the project; without a check of the link back to it, it could open any repository of the
    # user.
    fails "not a git repository" in_jail git status
    git config core.worktree "$PROJECT/apart"
    works in_jail git -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m inside
    prints inside git log -1 --format=%s
}

@test "a .git file that points at another project's repository shows nothing of it" {
    make_repository "$HOME/origin"
    echo "gitdir: $HOME/origin/.git" >.git
    expect_hidden "$HOME/origin/.git/config"
}

@test "a .git file that points at an ordinary directory shows nothing of it" {
    mkdir "$HOME/private"
    echo secret >"$HOME/private/secret"
    echo "gitdir: $HOME/private" >.git
    expect_hidden "$HOME/private/secret"
}

@test "paths with blanks, quotes and other letters work" {
    mkdir -p "$PROJECT/it's a \"project\" ü"
    cd "$PROJECT/it's a \"project\" ü"
    works in_jail touch "a file"
    works test -e "a file"
}

# Threat: a process that can rename beside the project, in another jail for instance, puts a link in its place after the program has
# read the current directory and before it follows that path.
@test "a current directory that is replaced by a link during the launch is refused" {
    mkdir -p "$HOME/beside/p" "$HOME/private" && echo secret >"$HOME/private/secret" && ln -s "$HOME/private" "$HOME/beside/q"
    cd "$HOME/beside/p"
    prints secret cat "$HOME/beside/q/secret"
    local trace=$BATS_TEST_TMPDIR/trace
    strace -f -qq -o "$trace" -e trace=getcwd -e inject=getcwd:signal=STOP:when=1 \
        "$SBX_PROGRAM" --quiet --network isolated -- sh -c 'pwd; cat secret; touch made' </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    CHILDREN+=("$SUPERVISOR")
    wait_until grep -q "stopped by SIGSTOP" "$trace"
    mv "$HOME/beside/p" "$HOME/beside/p.old"
    mv "$HOME/beside/q" "$HOME/beside/p"
    kill -CONT "$(awk '{ print $1; exit }' "$trace")"
    end_of_jail
    status=$STATUS output=$(<"$BATS_TEST_TMPDIR/jail.out")
    ((status == 125)) && [[ $output == *"was replaced by something else"* && $output != *secret$'\n'* ]] || report "should be refused"
    [[ ! -e $HOME/private/made ]] || leak "something was written outside"
}

@test "below the top of a repository one line names the option; project.root takes the whole repository" {
    make_repository "$PROJECT"
    mkdir -p "$PROJECT/part/deep"
    cd "$PROJECT/part/deep"
    run "$SBX_PROGRAM" -- git status
    [[ $status == 128 && $output == *"the project is a part of the repository $PROJECT, so git does not find it; --project $PROJECT, or project.root = \"repository\", takes the whole repository"* ]] || report "the line"
    works env AGENT_SANDBOX_PROJECT_ROOT=repository "$SBX_PROGRAM" -- sh -c 'git status >/dev/null && touch "$1/made" && pwd' sh "$PROJECT"
    [[ $output == "$PROJECT/part/deep" && -e $PROJECT/made ]] || report "project.root = repository"
    # Hooks and settings of the top are protected, as when the session starts there.
    AGENT_SANDBOX_PROJECT_ROOT=repository fails "" "$SBX_PROGRAM" --quiet -- sh -c 'echo x >"$1/.git/hooks/pre-commit"' sh "$PROJECT"
    mkdir "$PROJECT/.vscode" && echo x >"$PROJECT/.vscode/settings.json"
    AGENT_SANDBOX_PROJECT_ROOT=repository fails "" "$SBX_PROGRAM" --quiet -- sh -c 'echo x >"$1/.vscode/tasks.json"' sh "$PROJECT"
    # No line: at the top, with --project, below a ceiling of git's, and for an empty .git.
    cd "$PROJECT"
    works "$SBX_PROGRAM" -- true
    [[ $output != *repository* ]] || report "at the top"
    cd part/deep
    works "$SBX_PROGRAM" --project "$PWD" -- true
    [[ $output != *repository* ]] || report "--project"
    works env GIT_CEILING_DIRECTORIES="$PROJECT" "$SBX_PROGRAM" -- true
    [[ $output != *repository* ]] || report "GIT_CEILING_DIRECTORIES"
    mkdir -p "$HOME/empty/.git" "$HOME/empty/part"
    cd "$HOME/empty/part"
    works "$SBX_PROGRAM" -- true
    [[ $output != *repository* ]] || report "an empty .git"
}

@test "a home directory that is a repository never becomes the project" {
    git -C "$HOME" init -q
    mkdir -p "$HOME/plain"
    echo private >"$HOME/file"
    cd "$HOME/plain"
    works "$SBX_PROGRAM" -- true
    [[ $output != *repository* ]] || report "a line for every project"
    run env AGENT_SANDBOX_PROJECT_ROOT=repository "$SBX_PROGRAM" -- cat "$HOME/file"
    [[ $status != 0 && $output == *"contains your home directory, so the project is the current directory alone (project.root)"* ]] || report "the line"
    [[ $output == *"No such file"* ]] || report "the home directory is shown"
    rm -rf "$HOME/.git"
}

@test "a project's file can't take the repository above it as the project" {
    make_repository "$PROJECT"
    mkdir -p "$PROJECT/part"
    cd "$PROJECT/part"
    printf '[project]\nroot = "repository"\n' >.agent-sandbox.toml
    run -125 "$SBX_PROGRAM" -- true
    [[ $output == *"may only narrow"* ]] || report "a project's file"
}
