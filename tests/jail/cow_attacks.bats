#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A session with --cow prepares its layer so that a command outside does harm: runs a program, writes or removes something elsewhere,
# or shows other changes than it applies.

load helper

setup() {
    start_test
    make_repository "$PROJECT"
    mkdir docs
    echo one >README.md
    echo old >docs/old.md
    git add . && git commit -qm first
    LAYERS=$HOME/.local/state/agent-sandbox/layers
    JAIL=(--network isolated --cow)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }

@test "apply holds back links in a directory of the PATH, and a link in place of such a directory" {
    mkdir tools real && ln -s real way && echo kept >tools/kept
    PATH=$PROJECT/tools:$PROJECT/way:$PROJECT/later/bin:$PATH
    works in_jail_sh 'printf "#!/bin/sh\necho RAN\n" >run-me; chmod +x run-me; ln -s ../run-me tools/ls; mkdir -p later/bin; ln -s ../../run-me later/bin/ls
        mkdir other; cp run-me other/id; rm way; ln -s other way; ln -s run-me plain'
    run sandbox apply
    says "held back"
    [[ -x run-me && -L plain && ! -L tools/ls && ! -L later/bin/ls && $(readlink way) == real ]] || report "$(find . -path ./.git -prune -o -print)"
    [[ $(ls; id) != *RAN* ]]
    works sandbox discard --yes
    works in_jail_sh 'rm -r tools; ln -s other tools'
    run sandbox apply
    [[ ! -L tools && -e tools/kept ]]
    # Control: once it is named it is applied, and runs.
    works sandbox apply --held tools
    [[ $(id) == RAN ]]
}

@test "programs that the layer's repository names do not change what a branch gets; a plain commit there shows that they run" {
    evil='printf "#!/bin/sh\necho EVIL >README.md\n" >evil; chmod +x evil'
    declare -A plant=(
        [filter]='git config filter.e.clean "sed s/one/EVIL/"; echo "* filter=e" >.git/info/attributes'
        [hook]="$evil; cp evil .git/hooks/post-index-change"
        [monitor]="$evil; git config core.fsmonitor \$PWD/evil; git config core.hooksPath \$PWD")
    for name in filter hook monitor; do
        works "$SBX_PROGRAM" --quiet --network isolated --layer "$name" -- sh -c "${plant[$name]}; echo two >>README.md; echo new >new"
        works sandbox apply "$name" --to-branch "work-$name" README.md new
        prints $'one\ntwo' git show "work-$name:README.md"
        [[ $(git diff --name-only HEAD "work-$name") == $'README.md\nnew' ]] || report "$(git diff --stat HEAD "work-$name")"
        [[ $(git log -1 --format=%an "work-$name") == Tester ]]
    done
    # Control: a commit with the repository of the layer commits other content.
    works "$SBX_PROGRAM" --quiet --network isolated --layer filter -- git commit -qam inside
    works sandbox apply filter --to-branch control
    [[ $(git show control~:README.md) == *EVIL* ]]
}

@test "commits with files that apply holds back are fetched, and these files are named" {
    works "$SBX_PROGRAM" --quiet --network isolated --layer one -- sh -c 'mkdir .vscode sub; echo {} >.vscode/tasks.json; echo x >sub/f; git add -A; git commit -qm inside
        git branch .dot 2>/dev/null; cp .git/refs/heads/main .git/refs/heads/.dot; mkdir -p .git/refs/heads/a.lock; cp .git/refs/heads/main .git/refs/heads/a.lock/b'
    run sandbox apply one --to-branch work
    says "files that apply holds back; look at them before you check the branch out: .vscode/tasks.json"
    [[ $output != *sub/f* ]]
    echo outside >other && git add other && git commit -qm outside
    run sandbox apply one
    says "fetched the commits of the layer: agent/one/main"
    says "look at them before you check the branch out: .vscode/tasks.json"
    prints inside git log -1 --format=%s agent/one/main
    # Control: a branch without such files gets no such line.
    works "$SBX_PROGRAM" --quiet --network isolated --layer two -- sh -c 'echo x >g; git add -A; git commit -qm inside'
    run sandbox apply two --to-branch other
    [[ $status == 0 && $output != *"look at them"* ]] || report "no protected file is in it"
}

# at_question COMMAND ANSWER: starts a session, runs the command when its question is shown, and answers. Then it keeps the layer.
at_question() {
    python3 - "$SBX_PROGRAM" "$@" <<'END'
import os, pty, subprocess, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], [sys.argv[1], "--network", "isolated", "--layer", "one", "--", "sh", "-c", "echo shown >new"])
answers, seen, shown = [sys.argv[3], "k"], b"", b""
while True:
    try:
        got = os.read(terminal, 4096)
    except OSError:
        break
    if not got:
        break
    seen, shown = seen + got, shown + got
    if b"x discard ?" in seen and answers:
        if len(answers) == 2:
            subprocess.run(["sh", "-c", sys.argv[2]], stdin=subprocess.DEVNULL, check=True)
        os.write(terminal, answers.pop(0).encode() + b"\n")
        seen = b""
os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
END
}

@test "what another session makes of the layer while the question waits is not applied by the answer" {
    run at_question "'$SBX_PROGRAM' --quiet --network isolated --layer one -- sh -c 'rm new; ln -s /etc/passwd new'" a
    says "another session has used the layer since its changes were shown"
    [[ ! -L new && ! -e new ]] || report "a link that was never shown was applied"
    works sandbox discard --yes one
    # An interrupted apply of another layer stops the answer, too.
    works "$SBX_PROGRAM" --quiet --network isolated --layer two -- sh -c 'echo 2 >second'
    works sandbox apply two
    rm "$LAYERS"/*/applied/1/done
    run at_question true a
    says "an apply of the layer two was interrupted"
    [[ ! -e new ]]
    works sandbox apply --resume two
    works sandbox discard --yes one
    # Control: the same answer without another session applies what was shown.
    run at_question true a
    prints shown cat new
}

@test "an index that leads to a pipe stops neither diff nor the undo of an apply" {
    mkfifo "$HOME/pipe"
    for index in "mkfifo .git/index" "ln -s $HOME/pipe .git/index"; do
        works in_jail_sh "echo inside >README.md; rm -f .git/index; $index"
        works timeout 60 "$SBX_PROGRAM" diff --names
        works timeout 60 "$SBX_PROGRAM" apply
        prints inside cat README.md
        works timeout 60 "$SBX_PROGRAM" apply --undo
        prints one cat README.md
        works sandbox discard --yes
    done
    # Control: a reader of the pipe waits.
    run timeout 1 cat "$HOME/pipe"
    [[ $status == 124 ]]
}
