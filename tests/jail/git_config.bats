#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Git inside changes the configuration of its repository as outside, and no change makes git outside run a program. Each attack is
# done outside first, where git does run the program.

load helper
load git_config

setup() { start_git_test; }
teardown() { end_test; }

# keep: stores the project and the server's repositories; start_again: restores them.
keep() { rm -rf "$HOME/kept" && mkdir "$HOME/kept" && cp -a "$PROJECT" "$HOME/served" "$HOME/kept"; }
start_again() {
    find "$PROJECT" "$HOME/served" -mindepth 1 -delete
    cp -a "$HOME/kept/project/." "$PROJECT"
    cp -a "$HOME/kept/served/." "$HOME/served"
}

# What a repository is, as text.
describe() {
    local tree
    for tree in "$@"; do
        git -C "$tree" config --list --local
        git -C "$tree" for-each-ref
        git -C "$tree" status --porcelain=v2 --branch
        git -C "$tree" stash list
        git -C "$tree" fsck --no-progress 2>&1
    done
    git worktree list --porcelain
    git submodule status
    git -C "$HOME/served/app.git" for-each-ref
}

# same SCRIPT [TREE...]: run inside, the script prints the same and leaves the same repository as outside.
same() {
    local script=$1
    shift
    (($#)) || set -- .
    keep
    bash -c "$script" >"$HOME/outside" 2>&1 || echo "status $?" >>"$HOME/outside"
    describe "$@" >"$HOME/outside.repository" 2>&1
    start_again
    in_jail bash -c "$script" >"$HOME/inside" 2>&1 || echo "status $?" >>"$HOME/inside"
    describe "$@" >"$HOME/inside.repository" 2>&1
    run diff -u "$HOME/outside" "$HOME/inside"
    ((status == 0)) || report "prints something else inside: $script"
    run diff -u "$HOME/outside.repository" "$HOME/inside.repository"
    ((status == 0)) || report "leaves another repository inside: $script"
    works test ! -e .git/config.lock
    start_again
}

# The operations of a pull request, each with its exit code. Times are fixed, so that both runs make the same commits.
pull_request() {
    cat <<'SCRIPT'
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z' GIT_EDITOR=true
do_git() { git "$@" >/dev/null 2>"$TMPDIR/err"; echo "$? git $*"; grep -i "busy\|not permitted\|read-only\|could not" "$TMPDIR/err"; true; }
export TMPDIR=$(mktemp -d)
do_git config user.name Author
do_git config user.email author@example.org
do_git checkout -b topic
echo 2 >new && do_git add new
do_git commit -m second
do_git push -u origin topic
do_git fetch --prune
do_git checkout -b tracked --track origin/other
do_git checkout other
do_git branch -u origin/main
do_git branch -m renamed
do_git checkout topic
echo 3 >>new && do_git stash
do_git stash pop
do_git commit -am third
do_git tag v1
do_git tag -a v2 -m two
do_git remote add fork https://example.org/fork.git
do_git remote rename fork mine
do_git remote set-url mine git@example.org:me/app.git
do_git remote set-url --push mine https://example.org/push.git
do_git remote remove mine
do_git checkout main
echo 4 >main && git add main && do_git commit -m fourth
do_git merge -m merged topic
do_git checkout -b late HEAD~1
echo 5 >late && git add late && do_git commit -m fifth
do_git rebase main
do_git checkout main
do_git cherry-pick late
do_git worktree add tree
do_git -C tree commit --allow-empty -m inside
do_git worktree remove tree
do_git branch -D tree
do_git submodule add "$1" lib
do_git commit -m "with a submodule"
do_git submodule update --init
do_git submodule sync
do_git submodule deinit -f lib
do_git sparse-checkout set --cone lib
do_git sparse-checkout disable
do_git branch --unset-upstream topic
do_git branch --edit-description topic
do_git config branch.topic.description "a pull request"
do_git config --unset branch.topic.description
do_git branch -d renamed
do_git push origin main
do_git config core.fileMode true
do_git config pull.rebase true
do_git config --remove-section pull
do_git gc
do_git fsck
SCRIPT
}

# ---- What must work ------------------------------------------------------------------------------------------------

# bats test_tags=smoke
@test "git push -u, branch -u, branch -m, checkout --track, remote add and config user.name work and are seen outside" {
    works in_jail_sh 'git checkout -qb topic && git push -qu origin topic && git branch -m named && git branch -qu origin/other &&
        git checkout -q -b tracked --track origin/other && git remote add fork https://example.org/fork.git && git config user.name Inside'
    [[ $output != *error* && $output != *warning* ]] || report "complains"
    prints Inside git config user.name
    prints https://example.org/fork.git git remote get-url fork
    prints refs/heads/other git config branch.named.merge
    prints origin git config branch.tracked.remote
    works test ! -e .git/config.lock -a ! -e .git/config.agent-sandbox
}

@test "fifty operations of a pull request have the same result inside as outside, native" {
    JAIL+=(--backend native)
    same "set -- $LIBRARY; $(pull_request)"
}

@test "fifty operations of a pull request have the same result inside as outside, bubblewrap" {
    JAIL+=(--backend bwrap)
    same "set -- $LIBRARY; $(pull_request)"
}

@test "submodule update --init in a fresh clone works, and the submodule's own configuration can be changed" {
    local script='git submodule update --init; echo $?; cd lib; git checkout -q -b topic; git push -qu origin HEAD:topic2; echo $?
        git config user.name Sub; echo $?; git remote add fork https://example.org/fork.git; echo $?'
    git submodule --quiet add "$LIBRARY" lib
    git commit -qm "with a submodule"
    git push -q
    cd "$HOME" && rm -rf "$PROJECT" && git clone -q "$ORIGIN" "$PROJECT" && cd "$PROJECT"
    same "$script" . lib
    git submodule --quiet update --init
    same "$script" . lib
}

@test "worktrees with configurations of their own are changed inside as outside" {
    git config extensions.worktreeConfig true
    git worktree add -q tree
    same 'git config --worktree user.name Main; echo $?; cd tree; git config --worktree user.name Tree; echo $?
        git sparse-checkout set lib; echo $?; git config user.email x@example.org; echo $?' . tree
}

@test "a second repository in the project is changed inside as outside" {
    git clone -q "$ORIGIN" second
    same 'cd second; git checkout -qb topic; git push -qu origin topic:second; echo $?; git config user.name Second; echo $?' . second
}

@test "a clone into a directory of the project can be configured" {
    same "git clone -q $LIBRARY clone; echo \$?; cd clone; git config user.name x; echo \$?; git remote add fork $ORIGIN; echo \$?" . clone
}

@test "settings of the user that name programs stay, in their form and with the mode of the file" {
    printf '# mine\n[alias]\n\tst = "!f() { \\\n\t\techo 1; }; f" ; end\n[core] pager = less\n' >>.git/config
    chmod 640 .git/config
    cp .git/config "$HOME/before"
    works in_jail git config user.name Inside
    git config --unset user.name
    git config --remove-section user || true
    prints 640 stat -c %a .git/config
    works cmp .git/config "$HOME/before"
}

@test "programs that write the configuration at the same time wait for each other" {
    works in_jail_sh 'for i in 1 2 3 4; do
            (for j in 1 2 3 4 5; do until git config "branch.b$i$j.description" x 2>/dev/null; do :; done; done) &
        done; wait'
    works sh -c 'test "$(git config --get-regexp "branch\.b.*description" | wc -l)" = 20'
}

@test "two sessions change the same configuration, and it stays covered in both" {
    start_jail 'touch ready; until [ -e go ]; do git config user.name One || touch failed; done
        echo x >>.git/config && touch failed; touch done'
    local i
    for i in 1 2 3 4 5 6 7 8; do
        works in_jail_sh 'until git config user.email "$1@example.org" 2>/dev/null; do :; done; ! sh -c "echo x >>.git/config" 2>/dev/null' "$i"
    done
    touch go
    end_of_jail
    rm -f go ready
    prints 8@example.org git config user.email
    prints One git config user.name
    works test -e done
}

@test "what git, gh and glab write beside that has the same result inside as outside" {
    same "set -- $ORIGIN; $(
        cat <<'SCRIPT'
export GIT_EDITOR='printf "one line
and another
" >' HOME=$(mktemp -d)
trap 'rm -r "$HOME"' EXIT
do_git() { git "$@" >/dev/null 2>"$HOME/err"; echo "$? git $*"; cat "$HOME/err"; }
# gh repo fork --remote --remote-name fork
do_git remote add fork "$1"
do_git fetch -q fork
do_git config --add remote.origin.gh-resolved base
# gh pr checkout, of a fork
do_git fetch -q "$1" refs/heads/other:pull
do_git config branch.pull.remote "$1"
do_git config branch.pull.pushRemote "$1"
do_git config branch.pull.merge refs/heads/other
do_git checkout -q pull
do_git pull -q
do_git config branch.pull.gh-merge-base main
do_git branch -m renamed
do_git push -q --set-upstream origin renamed
do_git branch --edit-description
do_git config remote.origin.glab-resolved base
do_git remote set-branches origin main
do_git remote set-branches --add origin other
do_git remote set-head origin -a
do_git maintenance register
do_git maintenance unregister
do_git maintenance run --quiet
do_git config rerere.enabled true
do_git config http.postBuffer 524288000
do_git config merge.renameLimit 9999
do_git config checkout.defaultRemote origin
do_git config lfs.https://example.org/app.git/info/lfs.access basic
do_git fetch -q --all
SCRIPT
    )"
}

# init BACKEND: git init in a project that is not a repository.
init() {
    JAIL=(--network open --backend "$1")
    cd "$HOME" && rm -rf "$PROJECT" && mkdir "$PROJECT" && cd "$PROJECT"
    works in_jail_sh 'git init && echo 1 >file && git add file && git commit -qm first && git remote add origin "$1" &&
        git checkout -qb topic && git config user.name Inside && test -z "$(ls .git/hooks)" && ! touch .git/hooks/pre-commit' "$ORIGIN"
    [[ $output == *"Initialized empty Git repository"* && $output != *warning* ]] || report "should initialise"
    works git fsck
    prints "" git status --porcelain
    prints first git log -1 --format=%s topic
    wait_until test ! -e .git/config.agent-sandbox -a ! -e .git/commondir -a ! -e .git/config.worktree
    prints 644 stat -c %a .git/config
    git config --list --local | sort >"$HOME/inside"
    (rm -rf "$HOME/new" && mkdir "$HOME/new" && cd "$HOME/new" && git init -q && git remote add origin "$ORIGIN" && git config user.name Inside &&
        git config --list --local | sort >"$HOME/outside")
    works diff "$HOME/outside" "$HOME/inside"
}

@test "git init in a new project makes a repository without hooks, native" { init native; }
@test "git init in a new project makes a repository without hooks, bubblewrap" { init bwrap; }

@test "a project without a repository stays one: nothing can be planted before git init, and nothing is left" {
    cd "$HOME" && rm -rf "$PROJECT" && mkdir "$PROJECT" && cd "$PROJECT"
    start_jail 'touch ready; until [ -e go ]; do sleep 0.02; done; git init -q; touch .git/hooks/post-checkout && touch planted; echo x >>.git/config && touch planted
        echo x >.git/commondir && touch planted; echo x >>.git/config.worktree && touch planted; mv .git aside && touch planted; rm -rf .git/HEAD .git/objects .git/refs'
    # A second session at the same time, which ends first.
    works in_jail_sh 'ls -A .git; ! touch .git/hooks/x; ! sh -c "echo x >>.git/config"'
    fails "not a git repository" git status
    touch go
    end_of_jail
    fails "" test -e planted
    rm -f go ready
    wait_until sh -c 'test -z "$(ls -A)" || test "$(find .git -type f)" = .git/config'
}

@test "renames of other files work as before, by every call" {
    works in_jail python3 - <<'PYTHON'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def made(name, text):
    with open(name, "w") as file: file.write(text)
made("a", "1"); os.rename("a", "b"); assert open("b").read() == "1"
made("config.lock", "2"); os.rename("config.lock", "config"); assert open("config").read() == "2"
os.mkdir("d"); made("d/config.lock", "3")
fd = os.open("d", os.O_RDONLY)
os.rename("config.lock", "config", src_dir_fd=fd, dst_dir_fd=fd); assert open("d/config").read() == "3"
made("x", "4"); assert libc.renameat2(-100, b"x", -100, b"b", 2) == 0; assert open("x").read() == "1"
assert libc.renameat2(-100, b"x", -100, b"b", 1) == -1 and ctypes.get_errno() == 17
assert libc.rename(b"missing", b"config") == -1 and ctypes.get_errno() == 2
assert libc.rename(None, b"config") == -1 and ctypes.get_errno() == 14
PYTHON
}

# ---- What must not work ----------------------------------------------------------------------------------------------

@test "each setting that runs a program is refused and recorded with its key" {
    local key
    for key in core.fsmonitor core.hooksPath core.pager core.editor core.sshCommand core.worktree alias.status alias.x \
        credential.helper filter.x.clean diff.x.command diff.external gpg.program include.path includeIf.gitdir:x.path \
        remote.origin.vcs remote.origin.uploadpack remote.origin.receivepack url.x.insteadOf http.proxy init.templateDir \
        extensions.partialClone hook.x.command merge.x.driver submodule.x.update core.attributesFile branch.main.mergeOptions; do
        works git config --file "$HOME/control" "$key" '!x'
        cp .git/config "$HOME/before"
        refuses "$(git config --file "$HOME/control" --list --name-only | tail -1)" git config "$key" '!x'
        works cmp .git/config "$HOME/before"
        works test ! -e .git/config.lock
        rm "$HOME/control"
    done
}

@test "control: outside, git runs the program of a setting that is refused inside" {
    make_trap
    git config core.fsmonitor "$HOME/trap"
    git status >/dev/null 2>&1 || true
    works test -e "$PLANTED"
    git config --unset core.fsmonitor
    rm "$PLANTED"
    run in_jail git config core.fsmonitor "$HOME/trap"
    git status >/dev/null
    works test ! -e "$PLANTED"
}

@test "a setting that the user made can't be removed or moved from inside" {
    git config core.hooksPath /dev/null
    refuses core.hookspath git config --unset core.hooksPath
    refuses core.hookspath git config --remove-section core
    prints /dev/null git config core.hooksPath
}

# put TEXT...: renames a config.lock with this text onto the configuration, inside.
put() { in_jail python3 -c 'import os, sys
text = eval(sys.argv[1])
with open(".git/config.lock", "wb") as file: file.write(open(".git/config", "rb").read() + text)
os.rename(".git/config.lock", ".git/config")' "$1"; }

@test "hidden forms of a setting are refused: case, continued lines, one line, CRLF, a byte order mark, NUL, invalid text, a huge file" {
    local text
    cp .git/config "$HOME/before"
    works put 'b""'
    for text in 'b"[CoRe]\n\tFSMonitor = x\n"' 'b"[core] fsmonitor = x\n"' 'b"[core]\n\tfsmon\\\nitor = x\n"' 'b"[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n"' \
        'b"# a\\\n[core]\n\tfsmonitor = x\n"' 'b"[user]\r\n\tname = x\r\n"' 'b"[user]\n\tname = \"x\n[core]\n\tfsmonitor = x\"\n"' \
        'b"[user]\n\tname = x\0\n"' 'b"[core\n"' 'b"\n" * (300 << 10)' 'b"[core \"x\"]\n\tfsmonitor = x\n"' 'b"[user]\n\tname = x ; y\n"'; do
        fails "Operation not permitted" put "$text"
        rm -f .git/config.lock
        works cmp .git/config "$HOME/before"
    done
    fails "Operation not permitted" in_jail python3 -c 'import os
text = open(".git/config", "rb").read()
open(".git/config.lock", "wb").write(b"\xef\xbb\xbf" + text)
os.rename(".git/config.lock", ".git/config")'
    works cmp .git/config "$HOME/before"
}

@test "a config.lock that is a link, a FIFO, a directory or has a second name is refused, and one elsewhere stays with the kernel" {
    cp .git/config "$HOME/before"
    cp .git/config plain
    for make in 'ln -s ../plain .git/config.lock' 'mkfifo .git/config.lock' 'mkdir .git/config.lock' 'cp plain .git/x && ln .git/x .git/config.lock'; do
        fails "Operation not permitted" in_jail_sh "$make && python3 -c 'import os; os.rename(\".git/config.lock\", \".git/config\")'"
        rm -rf .git/config.lock
    done
    fails "cross-device" in_jail_sh 'cp .git/config c && python3 -c "import os; os.rename(\"c\", \".git/config\")"'
    fails "cross-device" in_jail_sh 'cp .git/config config.lock && python3 -c "import os; os.rename(\"config.lock\", \".git/config\")"'
    fails "busy" in_jail_sh 'cp .git/config .git/c && python3 -c "import os; os.rename(\".git/c\", \".git/config\")"'
    fails "" in_jail_sh 'cp .git/config .git/config.lock && python3 -c "import os; os.link(\".git/config.lock\", \".git/config\")"'
    works cmp .git/config "$HOME/before"
}

@test "a config.lock that changes while it is judged never gets another text into the configuration" {
    # Two threads write harmless and harmful texts into the same file, under the same and under other names, while others rename it.
    works in_jail timeout 120 python3 - <<'PYTHON'
import os, threading
base = open(".git/config", "rb").read()
good, evil = base + b"[user]\n\tname = %d\n", base + b"[core]\n\tfsmonitor = x\n"
done, counts = False, {"accepted": 0, "refused": 0}
def swap():
    number = 0
    while not done:
        number += 1
        for text in (good % (number % 97), evil):
            try:
                with open(".git/config.lock", "r+b" if number % 3 else "wb") as file: file.write(text); file.truncate()
            except OSError: pass
            if number % 5 == 0:
                with open(".git/swap", "wb") as file: file.write(text)
                os.rename(".git/swap", ".git/config.lock")
threads = [threading.Thread(target=swap) for _ in range(2)]
for thread in threads: thread.start()
while counts["accepted"] < 100 or counts["refused"] < 20:
    try: os.rename(".git/config.lock", ".git/config"); counts["accepted"] += 1
    except PermissionError: counts["refused"] += 1
    except OSError: pass
    assert b"fsmonitor" not in open(".git/config", "rb").read()
done = True
for thread in threads: thread.join()
PYTHON
    fails "" git config core.fsmonitor
    # The configuration is covered as before.
    expect_unwritable .git/config
}

@test "while the configuration changes, no process inside ever opens it for writing, in this session and in another one" {
    local opener='import os, sys
while not os.path.exists("go"):
    for name in (".git/config", ".git/config.agent-sandbox"):
        try: os.close(os.open(name, os.O_WRONLY)); open("opened", "w")
        except OSError: pass
        try: os.link(name, ".git/alias"); open("opened", "w")
        except OSError: pass
        if not os.path.exists("ready"): open("ready", "w")'
    start_jail 'python3 -c "$1"' "$opener"
    works in_jail_sh 'python3 -c "$1" & i=0; while [ $i -lt 60 ]; do git config user.name "$i" && i=$((i + 1)); done; touch go; wait' "$opener"
    end_of_jail
    works test ! -e opened
    prints 59 git config user.name
    # Control: renames outside do uncover the file for a moment. The keeper ends a process that has it open then.
    attempt() {
        rm -f go ready
        start_jail 'python3 -c "$1"' "$opener"
        for i in 1 2 3 4 5 6 7 8; do git config user.name "Outside$i"; done
        touch go
        end_of_jail
        grep -q "open inside for a moment" "$BATS_TEST_TMPDIR/jail.out" || test -e opened
    }
    wait_until attempt
}

@test "neither the configuration nor the spare file can be opened for writing, replaced or linked, before and after a change" {
    works in_jail_sh 'for i in 1 2; do
        for file in .git/config .git/config.agent-sandbox; do
            test -e $file || exit 1
            ! sh -c "echo x >>$file" 2>/dev/null && ! mv $file aside 2>/dev/null && ! ln $file aside 2>/dev/null && ! rm -f $file 2>/dev/null &&
                ! mv file $file 2>/dev/null && ! chmod 600 $file 2>/dev/null || exit 1
        done
        git config user.name "$i" || exit 1
    done'
    works test ! -e .git/config.agent-sandbox
}

@test "a session that is killed leaves no spare file behind after the next one" {
    start_jail 'git config user.name Killed; touch ready; sleep 100'
    kill -KILL "$SUPERVISOR"
    wait "$SUPERVISOR" || true
    works in_jail git status
    wait_until test ! -e .git/config.agent-sandbox
    prints Killed git config user.name
}

@test "with another backend and in a traced jail git reports that it can't write" {
    local option
    for option in "--backend landlock" "--trace-files"; do
        # shellcheck disable=SC2086
        JAIL=(--network open $option)
        run in_jail git config user.name Inside
        ((status != 0)) || [[ $option == *landlock* ]] || report "should fail: $option"
    done
}
