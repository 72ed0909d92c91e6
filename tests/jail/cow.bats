#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Copy-on-write sessions (--cow): the command works in the project at its own path, and what it writes goes to a layer. `diff` shows
# the layer, `apply` writes it to the project, all or nothing, and `apply --undo` takes that back.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    mkdir -p docs src/deep
    printf 'one\ntwo\n' >README.md
    echo old >docs/old.md
    echo code >src/x.c
    echo TOKEN=secret >.env
    echo TOKEN=deep >src/deep/.env
    echo .env >.gitignore
    git add . && git commit -qm first
    LAYERS=$HOME/.local/state/agent-sandbox/layers
    JAIL=(--network isolated --cow)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
# Everything in the project, with modes and content.
picture() { (cd "$PROJECT" && find . -path ./.git -prune -o -printf '%p %y %m %l\n' -type f -exec sha256sum {} + | sort); }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }
# start_waiting SCRIPT SCRIPT: the first part has run when this returns; the second one runs after go_on.
start_waiting() {
    mkfifo "$HOME/fifo"
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c "$1; touch ready; read -r line; $2" <>"$HOME/fifo" >"$HOME/out" 2>&1 3>&- &
    WAITING=$!
    CHILDREN+=("$WAITING")
    is_ready() { compgen -G "$LAYERS/*/roots/0/upper/ready" >/dev/null; }
    wait_until is_ready
}
go_on() {
    echo go >"$HOME/fifo"
    wait "$WAITING"
    rm "$HOME/fifo"
}
change_all() { in_jail_sh 'echo three >>README.md; rm -r docs; mkdir new; echo y >new/f; chmod +x src/x.c'; }

# bats test_tags=smoke
@test "a session with --cow sees all files, writes to a layer and leaves the project as it was" {
    before=$(picture)
    run change_all
    [[ $status == 0 ]] || report "the command should work"
    says "nothing was written to ~/project: the changes are in layer"
    says "1 deleted, 2 changed, 1 new"
    says "deleted: docs/old.md"
    [[ $(picture) == "$before" ]] || report "the project changed"
    prints "" git status --short
    # Control: without --cow the same command writes to the project.
    JAIL=(--network isolated)
    works change_all
    [[ $(picture) != "$before" ]]
}

@test "git applies the patch of diff, and apply makes the same tree; undo brings the same files back" {
    works change_all
    "$SBX_PROGRAM" diff >"$HOME/patch"
    cp -a "$PROJECT" "$HOME/copy"
    works git -C "$HOME/copy" apply "$HOME/patch"
    before=$(picture) inode=$(stat -c %i README.md)
    works sandbox apply
    says "applied"
    prints "" diff -r --exclude=.git "$HOME/copy" "$PROJECT"
    [[ -x src/x.c ]]
    works sandbox apply --undo
    [[ $(picture) == "$before" ]] || report "undo should restore the project"
    [[ $(stat -c %i README.md) == "$inode" ]]
    works sandbox apply
    [[ -f new/f ]]
}

@test "nothing is made in the project, and git config, remote add, init and hooks work inside" {
    rm -rf .vscode .claude
    before=$(find . | sort)
    start_waiting 'git config a.b c && git remote add o https://good.example/x && git branch -m other && git init -q sub &&
        echo "#!/bin/sh" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && mkdir .vscode && echo {} >.vscode/tasks.json' \
        'git config a.b; git remote'
    [[ $(find . | sort) == "$before" ]] || report "something was made in the project: $(find . | sort)"
    go_on
    [[ $(find . | sort) == "$before" ]]
    [[ $(head -n 1 "$HOME/out") == c ]] || report "$(cat "$HOME/out")"
    fails "" git config a.b
}

@test "masks and hidden paths hold: below pinned directories, after copies, and when the file is replaced outside" {
    mkdir hidden && echo secret >hidden/file
    works grep -q secret .env src/deep/.env hidden/file
    JAIL+=(--hide "$PROJECT/hidden")
    run in_jail_sh 'cat .env src/deep/.env; cat hidden/file; mv src moved; cat moved/deep/.env src/deep/.env; rm -f .env; mv .env e; cat e .env
        cp -a . /tmp/all; grep -r TOKEN /tmp/all; ln .env linked; cat linked; chmod 700 .env src/deep; cat /proc/self/root"$PWD"/.env; true'
    [[ $output != *TOKEN* && $output != *secret* ]] || report "a masked file was readable"
    # What was written beside a masked file is in the layer, not in the project.
    in_jail_sh 'echo inside >src/deep/beside; echo inside >src/x.c'
    [[ ! -e src/deep/beside && $(cat src/x.c) == code ]]
    start_waiting 'cat .env' 'cat .env; cat src/deep/.env'
    echo TOKEN=other >new-env && mv new-env .env
    go_on
    ! grep -q TOKEN "$HOME/out" || report "the replaced file was readable inside"
}

@test "the layers themselves can't be seen inside, and their verbs refuse there" {
    works change_all
    works ls "$LAYERS"
    fails "No such file" in_jail ls "$LAYERS"
    for verb in layers diff apply discard checkpoint rollback; do
        fails "is for the outside of a jail" in_jail_sh "cd $PROJECT && /run/agent-sandbox/agent-sandbox $verb"
    done
}

@test "names that run outside and links that leave the project are held back until they are named" {
    mkdir -p "$HOME/bin-out" tools
    PATH=$PROJECT/tools:$PATH
    works in_jail_sh 'echo "touch /tmp/ran" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git config core.pager evil
        mkdir .vscode; echo {} >.vscode/tasks.json; ln -s /etc out; ln -s src in; echo x >tools/ls; chmod +x tools/ls; echo ok >fine
        mkdir -p sub/.git/hooks; echo x >sub/.git/hooks/post-checkout; ln -s out/passwd through
        ln -s ../fine .git/FETCH_HEAD'
    run sandbox apply
    [[ $status == 0 ]] || report "apply should work"
    says "held back"
    [[ -e fine && -L in ]]
    for name in .git/hooks/pre-commit .vscode/tasks.json out tools/ls sub/.git/hooks/post-checkout through .git/FETCH_HEAD; do
        [[ ! -e $name && ! -L $name ]] || report "should be held back: $name"
    done
    fails "" git config core.pager
    works sandbox apply --held .vscode
    [[ -e .vscode/tasks.json && ! -e .git/hooks/pre-commit && ! -L out ]]
}

@test "a file that changed outside is in conflict: nothing is applied until --theirs names it" {
    works change_all
    echo mine >README.md
    before=$(picture)
    run sandbox apply
    [[ $status == 1 ]] || report "apply should find a conflict"
    says "changed outside since the session started: README.md"
    [[ $(picture) == "$before" ]]
    works sandbox apply src new
    [[ -x src/x.c && -e new/f && $(cat README.md) == mine ]]
    works sandbox apply --theirs README.md
    prints three tail -n 1 README.md
    works sandbox apply --undo
    prints mine cat README.md
}

@test "--merge takes both changes of a file where they touch different lines, and undo brings yours back" {
    seq 20 >README.md && seq 5 >docs/old.md && git add . && git commit -qm lines
    works in_jail_sh 'sed -i s/^20$/twenty/ README.md; sed -i s/^3$/inside/ docs/old.md; chmod 750 README.md'
    sed -i s/^1$/one/ README.md
    cp README.md "$HOME/mine"
    fails "in conflict" sandbox apply
    works sandbox apply --merge
    says "merged with the changes outside: README.md"
    [[ $(head -n 1 README.md) == one && $(tail -n 1 README.md) == twenty && $(stat -c %a README.md) == 750 ]] || report "$(cat README.md)"
    works sandbox apply --undo
    prints "" diff README.md "$HOME/mine"
    # The same lines, a file that git does not have and a binary file stay in conflict.
    sed -i s/^3$/outside/ docs/old.md
    before=$(picture)
    fails "in conflict" sandbox apply --merge
    [[ $(picture) == "$before" ]]
    works sandbox apply --merge README.md
    [[ $(head -n 1 README.md) == one && $(tail -n 1 README.md) == twenty ]]
}

@test "--theirs for one file does not accept the removal of others, and --held below a link not the link" {
    echo second >docs/second.md
    git add . && git commit -qm second
    works in_jail_sh 'rm -r docs; mkdir own; ln -s own .claude'
    echo mine >docs/old.md && echo mine >docs/second.md
    fails "in conflict" sandbox apply --theirs docs/old.md
    [[ -e docs/old.md && -e docs/second.md ]]
    works sandbox apply --theirs docs --held .claude/settings.json
    [[ ! -e docs && ! -L .claude ]]
    works sandbox apply --undo
    prints mine cat docs/second.md
}

@test "commits made in a layer are applied with the files, also after a git status outside" {
    works in_jail_sh 'echo more >>README.md; git rm -q docs/old.md; git commit -qam inside; git tag v1'
    touch src/x.c
    works git status --short
    prints first git log -1 --format=%s
    works sandbox apply
    prints inside git log -1 --format=%s
    prints "" git status --short
    works git fsck
    works git rev-parse v1
    works sandbox apply --undo
    prints first git log -1 --format=%s
    prints "" git status --short
}

@test "after a commit outside, the commits of the layer become branches, and its files are applied" {
    works in_jail_sh 'echo more >>README.md; git commit -qam inside; git switch -qc side; echo s >side; git add side; git commit -qm aside'
    echo other >other && git add other && git commit -qm outside
    main=$(git symbolic-ref --short HEAD)
    layer=$("$SBX_PROGRAM" layers --json | jq -r '.[0].id[:4]')
    run sandbox apply
    [[ $status == 0 ]] || report "apply should work"
    says ".git changed outside, too, and stays in the layer"
    says "fetched the commits of the layer"
    prints outside git log -1 --format=%s
    prints inside git log -1 --format=%s "agent/$layer/$main"
    prints aside git log -1 --format=%s "agent/$layer/side"
    prints more tail -n 1 README.md
    works git fsck
    # The rest stays in the layer.
    run sandbox diff --names "$layer"
    says "of git's own"
    [[ $output != *README.md* ]]
}

@test "a lock of git in the project stops an apply, one in the layer stays there, and apply removes its own" {
    works in_jail_sh 'echo more >>README.md; git commit -qam inside; touch .git/index.lock'
    before=$(picture)
    touch .git/index.lock
    fails "index.lock exists" sandbox apply
    [[ $(picture) == "$before" ]]
    prints first git log -1 --format=%s
    works sandbox apply README.md
    rm .git/index.lock
    works sandbox apply
    says "can't be applied: .git/index.lock (a lock of git)"
    [[ ! -e .git/index.lock ]]
    prints inside git log -1 --format=%s
    # As after a crash during an apply.
    rm "$LAYERS"/*/applied/2/done
    echo "agent-sandbox apply" >.git/index.lock
    works sandbox apply --resume
    [[ ! -e .git/index.lock ]]
    works sandbox apply --undo
    prints first git log -1 --format=%s
    [[ ! -e .git/index.lock ]]
}

@test "three layers become three branches, without a masked, an ignored or a held file, and no file changes" {
    echo build >>.gitignore
    git add -f .gitignore .env && git commit -qm "ignored, and a masked file"
    before=$(picture)
    for name in one two three; do
        works "$SBX_PROGRAM" --quiet --network isolated --layer "$name" -- sh -c \
            "echo $name >>README.md; rm docs/old.md; echo new >$name; mkdir build .vscode; echo x >build/x; echo {} >.vscode/tasks.json"
        works sandbox apply "$name" --to-branch "work-$name" --message "the work of $name"
        says "the branch work-$name has the changes"
    done
    [[ $(picture) == "$before" ]] || report "a file changed"
    prints "" git status --short
    for name in one two three; do
        prints "the work of $name" git log -1 --format=%s "work-$name"
        [[ $(git diff --name-status "HEAD..work-$name") == $'M\tREADME.md\nD\tdocs/old.md\nA\t'"$name" ]] || report "$(git diff --name-status "HEAD..work-$name")"
        prints new git show "work-$name:$name"
    done
    works git fsck
    fails "exists already" sandbox apply one --to-branch work-two
    prints README.md sandbox apply one --to-branch more --dry-run README.md
    fails "" git rev-parse -q --verify more
    fails "exclude each other" sandbox apply one --to-branch more --select
    fails "can't be the name of a branch" sandbox apply one --to-branch 'a..b'
    works sandbox apply one
    prints new cat one
}

@test "a named layer is continued, and two sessions can't use it at once; others run beside it" {
    JAIL=(--network isolated --layer one)
    works in_jail_sh 'echo 1 >first'
    [[ $(in_jail cat first 2>/dev/null) == 1 ]]
    works in_jail_sh 'echo 2 >second; rm .gitignore'
    run sandbox diff --names one
    says "A first"
    says "A second"
    says "D .gitignore"
    start_waiting true true
    refused 125 "a session uses the layer one" in_jail true
    fails "a session uses the layer one" sandbox apply one --merge
    JAIL=(--network isolated --layer two)
    works in_jail_sh 'test ! -e first; echo 3 >third'
    run sandbox layers
    says "running"
    says "two"
    go_on
    works sandbox apply two
    [[ -e third && ! -e first ]]
    works sandbox discard --yes one
    run sandbox layers
    [[ $output != *one* ]]
}

@test "the layer of a killed session is whole" {
    start_waiting 'echo x >kept' true
    kill -KILL "$WAITING"
    wait "$WAITING" || true
    is_waiting() { "$SBX_PROGRAM" layers | grep -q waiting; }
    wait_until is_waiting
    works sandbox apply
    prints x cat kept
}

@test "a session without changes leaves no layer, and at_end = apply writes the rest at once" {
    works in_jail true
    prints "no layers" sandbox layers
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[cow]\nenabled = true\nat_end = "apply"\n' >"$HOME/.config/agent-sandbox/config.toml"
    JAIL=(--network isolated)
    works in_jail_sh 'echo x >now; mkdir .vscode; echo {} >.vscode/tasks.json'
    [[ -e now && ! -e .vscode ]]
}

@test "a project whose path has the separators of mount options" {
    strange=$HOME/'a:b,c\d'
    cp -a "$PROJECT" "$strange"
    cd "$strange"
    works in_jail_sh 'echo x >inside; pwd'
    [[ ! -e inside ]]
    works sandbox apply
    prints x cat inside
}

@test "what would be written directly is refused with --cow" {
    mkdir "$HOME/other"
    refused 125 "can't be writable with --cow" "$SBX_PROGRAM" --cow --rw "$HOME/other" true
    refused 125 "can't be writable with --cow" "$SBX_PROGRAM" --cow --home write true
    for backend in firejail landlock; do
        refused 125 "can't mount the layer of --cow in the place of the project" "$SBX_PROGRAM" --cow --backend "$backend" true
    done
    refused 125 "can't be the name of a layer" "$SBX_PROGRAM" --layer ../x true
}

@test "while an apply is interrupted no other layer is applied, and a new session names the commands" {
    works "$SBX_PROGRAM" --quiet --network isolated --layer one -- sh -c 'echo 1 >first'
    works "$SBX_PROGRAM" --quiet --network isolated --layer two -- sh -c 'echo 2 >second'
    works sandbox apply one
    # As after a crash before the last step.
    rm "$LAYERS"/*/applied/1/done
    fails "an apply of the layer one was interrupted" sandbox apply two
    [[ ! -e second ]]
    run sandbox layers
    says "half applied"
    run in_jail true
    says "apply --resume one"
    works sandbox apply --resume one
    works sandbox apply two
    prints 2 cat second
}

@test "the start of a session names layers that have waited for long, and removes none" {
    works in_jail_sh 'echo 1 >first'
    run "$SBX_PROGRAM" "${JAIL[@]}" -- true
    [[ $output != *"old layer"* ]] || report "the layer is new"
    # The start of the session that made it, two months ago.
    about=$(echo "$LAYERS"/*/about)
    start=$(tr '\0' '\n' <"$about" | grep -xE '[0-9]{19}')
    sed -i "s/$start/$((start - 60 * 86400 * 1000000000))/" "$about"
    run "$SBX_PROGRAM" "${JAIL[@]}" -- true
    says "1 old layer of this project still waits to be applied or discarded"
    [[ $("$SBX_PROGRAM" layers) == *waiting* ]]
}

@test "the record has what was applied, by which user, and what was undone and discarded; its chain stays intact" {
    export AGENT_SANDBOX_AUDIT_CHAIN=true
    works in_jail_sh 'echo new >new; rm docs/old.md; mkdir .vscode; echo {} >.vscode/tasks.json'
    works sandbox apply
    works sandbox apply --undo
    works sandbox discard --yes
    "$SBX_PROGRAM" log --json >"$HOME/log"
    of() { jq -c "select(.kind == \"layer\" and .action == \"$1\")" "$HOME/log"; }
    [[ $(of apply | jq -r '.user, .project, .count, .held[0]') == "$(id -un)"$'\n'"$PROJECT"$'\n'2$'\n'.vscode* ]] || report "$(of apply)"
    [[ $(of write | jq -r '.path, .sha256') == new$'\n'$(echo new | sha256sum | cut -d' ' -f1) ]] || report "$(of write)"
    prints docs/old.md jq -r .path < <(of delete)
    [[ -n $(of undo) && $(of discard | jq .count) -ge 2 ]] || report "$(cat "$HOME/log")"
    [[ $(jq -r 'select(.kind == "start").layer' "$HOME/log") == "$(of undo | jq -r .layer)" ]]
    run sandbox log --verify
    [[ $status == 0 ]] || report "the chain should hold"
    says intact
    # Control: without its first line of these the chain is broken.
    record=$(echo "$HOME"/.local/state/agent-sandbox/sessions/*.jsonl)
    sed -i '0,/"kind":"layer"/{/"kind":"layer"/d}' "$record"
    fails broken sandbox log --verify
}

@test "inspect and monitor show the layer of a session and how many files it has written" {
    start_waiting 'echo 1 >first; echo 2 >second; rm docs/old.md' true
    run sandbox inspect
    [[ $output =~ layer\ +[0-9a-f]{4}:\ 4\ files\ written\ or\ deleted ]] || report "inspect should show the layer"
    run sandbox monitor --once
    says "Layer of changes"
    says "4 files written or deleted"
    [[ $("$SBX_PROGRAM" monitor --once --json | jq '.sessions[0].layer_changes') == 4 ]]
    go_on
}

@test "the end of a session names what would run outside if the layer were applied" {
    mkdir hooks-of-mine && git config core.fsmonitor ./hooks-of-mine/watch
    run "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'echo x >Makefile; echo x >hooks-of-mine/watch; echo x >plain'
    says "look at these before you apply"
    says "Makefile: run by make"
    says "hooks-of-mine/watch: your git settings run it (core.fsmonitor)"
    [[ $output != *plain:* && ! -e Makefile ]]
}

# Types each answer when its prompt is shown: answer COMMAND... -- PROMPT ANSWER...
answer() {
    python3 - "$@" <<'END'
import os, pty, sys
last = len(sys.argv) - 1 - sys.argv[::-1].index("--")
command, rest = sys.argv[1:last], sys.argv[last + 1:]
pairs = list(zip(rest[::2], rest[1::2]))
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown = seen = b""
while True:
    try:
        got = os.read(terminal, 4096)
    except OSError:
        break
    if not got:
        break
    shown += got
    seen += got
    if pairs and pairs[0][0].encode() in seen:
        os.write(terminal, pairs.pop(0)[1].encode() + b"\n")
        seen = b""
os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
END
}

@test "on a terminal the end asks: diff, select, discard and keep" {
    export PAGER=cat
    jail=("$SBX_PROGRAM" --network isolated --cow -- sh -c)
    run answer "${jail[@]}" 'echo three >>README.md; rm src/x.c; mkdir .vscode; echo {} >.vscode/tasks.json' -- \
        "x discard ?" d "x discard ?" s "apply .vscode" n "apply README.md" y "apply src/x.c" n
    says "+three"
    says "applied 1 change"
    [[ $(tail -n 1 README.md) == three && -e src/x.c && ! -e .vscode ]]
    works sandbox discard --yes
    run answer "${jail[@]}" 'echo x >new' -- "x discard ?" x "for good?" y
    prints "no layers" sandbox layers
    run answer "${jail[@]}" 'echo x >new' -- "x discard ?" ""
    says "'agent-sandbox apply"
    [[ ! -e new ]]
    run answer "${jail[@]}" 'echo y >other' -- "x discard ?" a
    says "applied 1 change"
    prints y cat other
}

@test "hostile entries of a layer: pipes, reserved names and escapes in names are named and harmless" {
    works in_jail_sh 'mkfifo pipe; mkdir .agent-sandbox-apply; echo x >.agent-sandbox-apply/0; printf x >"$(printf "esc\033[31m")"; echo ok >fine'
    run sandbox apply
    [[ $status == 0 ]] || report "apply should work"
    says "pipe (it is a socket, a pipe or a device)"
    [[ $output != *$'\033'* ]] || report "an escape reached the terminal"
    [[ -e fine && ! -e pipe && ! -e .agent-sandbox-apply ]]
    run sandbox diff --names
    [[ $output != *$'\033'* ]]
}
