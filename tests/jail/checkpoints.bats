#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Checkpoints of copy-on-write sessions: `checkpoint` saves the state of a layer, `rollback` goes back to it, at rest and while the
# session runs. `apply` writes what a running session has written so far.

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
    git add . && git commit -qm first
    LAYERS=$HOME/.local/state/agent-sandbox/layers
    JAIL=(--network isolated --cow)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
says() { [[ $output == *"$1"* ]] || report "should say: $1"; }
picture() { (cd "$PROJECT" && find . -path ./.git -prune -o -printf '%p %y %m %l\n' -type f -exec sha256sum {} + | sort); }
upper() { echo "$LAYERS"/*/roots/0/upper; }

# start_waiting SCRIPT: a shell in the jail that runs the script, and then every line that do_inside writes.
start_waiting() {
    mkfifo "$HOME/fifo"
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c "$1; touch ready; while read -r line; do eval \"\$line\"; done" <>"$HOME/fifo" >"$HOME/out" 2>&1 3>&- &
    WAITING=$!
    CHILDREN+=("$WAITING")
    is_ready() { compgen -G "$LAYERS/*/roots/0/upper/ready" >/dev/null; }
    wait_until is_ready
}
# do_inside SCRIPT: returns when it has run; its output is in $HOME/out.
do_inside() {
    STEP=$((${STEP:-0} + 1))
    echo "$1; echo done-$STEP" >"$HOME/fifo"
    is_done() { grep -q "^done-$STEP$" "$HOME/out"; }
    wait_until is_done
}
end_inside() {
    echo exit >"$HOME/fifo"
    wait "$WAITING"
    rm "$HOME/fifo"
}

# bats test_tags=smoke
@test "a layer at rest goes back to a checkpoint and forward again" {
    works in_jail_sh 'echo first >a; rm docs/old.md; echo three >>README.md'
    works sandbox checkpoint --message "tests pass"
    says "checkpoint 1 of the layer"
    JAIL=(--network isolated --layer "$(basename "$LAYERS"/*/)")
    id=${JAIL[3]}
    works in_jail_sh 'echo second >a; echo b >b; mkdir docs; echo back >docs/old.md; git checkout -q README.md'
    prints "$(printf '%s\n' "M docs/old.md" "A a" "A b" | sort)" sh -c "'$SBX_PROGRAM' diff --names 2>&1 | grep -v 'git\|still running' | sort"
    works sandbox rollback 1
    says "goes forward again"
    prints "$(printf '%s\n' "D docs/old.md" "A a" "M README.md" | sort)" sh -c "'$SBX_PROGRAM' diff --names 2>&1 | grep -v 'git\|still running' | sort"
    [[ $(in_jail cat a) == first && ! -e a ]]
    run sandbox rollback --list
    says "tests pass"
    says "before the rollback to 1"
    run sandbox diff --names --checkpoint 2
    says "A b"
    works sandbox rollback "$id" 2
    [[ $(in_jail cat a docs/old.md) == second$'\n'back ]]
    works sandbox rollback 1
    works sandbox apply
    [[ $(cat a) == first && ! -e docs/old.md && ! -e b ]]
    fails "has no checkpoint 9" sandbox rollback 9
}

@test "a running session goes back to a checkpoint: files, deletions, directories, modes; open files stay" {
    before=$(picture)
    start_waiting 'echo 1 >a; rm docs/old.md; chmod 700 src/x.c; mkdir -p new/deep; echo n >new/deep/n; ln -s a link'
    works sandbox checkpoint
    says "the session stood still for"
    do_inside 'exec 8<a; echo 2 >a; echo 3 >b; rm -r new link; echo new >docs/new; rm src/x.c; echo x >>README.md; mkdir link; mv a c; cp c a'
    do_inside 'touch src/deep/t; rm -r docs; echo file >docs'
    works sandbox rollback
    says "is as at checkpoint 1"
    do_inside 'cat a; ls; ls docs; stat -c %a src/x.c; cat new/deep/n; readlink link; cat <&8; tail -n 1 README.md'
    prints "1 README.md a docs link new ready src 700 n a 2 two done-3" sh -c "sed 's/^done-[12]$//' '$HOME/out' | xargs"
    do_inside 'echo works >after; rm -r new; mkdir new; echo again >new/file'
    works sandbox rollback 2
    do_inside 'cat docs b; ls new 2>&1; test -e after || echo gone; test -e src/deep/t && echo there'
    tail -n 6 "$HOME/out" | xargs >"$HOME/last"
    grep -q "file 3 .*gone there done-5" "$HOME/last" || report "$(cat "$HOME/out")"
    [[ $(picture) == "$before" ]] || report "the project changed"
    end_inside
    run sandbox diff --names
    says "A b"
}

# Threat: a name that is replaced from outside the jail's mount namespace loses the mounts on it.
@test "masks hold after a rollback of a running session, also where the files were replaced outside" {
    works grep -q secret .env
    start_waiting 'cat .env src/deep/.env; echo 1 >a'
    works sandbox checkpoint
    do_inside 'rm -rf src; echo 2 >a; rm -f .env; cp -r docs more'
    echo TOKEN=other >new-env && mv new-env .env
    works sandbox rollback
    do_inside 'cat .env src/deep/.env; cat src/x.c; cp -r . /tmp/all; grep -r TOKEN= /tmp/all'
    [[ $(grep -c code "$HOME/out") == 1 ]] || report "$(cat "$HOME/out")"
    ! grep -q TOKEN "$HOME/out" || report "a masked file was readable: $(cat "$HOME/out")"
    end_inside
}

# Writes the same number to a_first and to z_last, one after the other, with 1,500 files between them. A timer of the kernel sends
# SIGCONT to it all the time.
writer() {
    cat <<'END'
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 64)]
class Times(ctypes.Structure):
    _fields_ = [("s1", ctypes.c_long), ("n1", ctypes.c_long), ("s2", ctypes.c_long), ("n2", ctypes.c_long)]
timer = ctypes.c_void_p()
if libc.timer_create(1, ctypes.byref(Event(None, signal.SIGCONT, 0)), ctypes.byref(timer)) != 0: raise OSError("timer_create")
if libc.timer_settime(timer, 0, ctypes.byref(Times(0, 100000, 0, 100000)), None) != 0: raise OSError("timer_settime")
os.mkdir("m")
for i in range(1500):
    with open(f"m/{i}", "w") as file: file.write(str(i) * 200)
first, last = (os.open(name, os.O_RDWR | os.O_CREAT) for name in ("a_first", "z_last"))
number = 0
while True:
    number += 1
    for file in (first, last): os.pwrite(file, b"%012d" % number, 0)
    if number == 2: open("ready", "w").close()
END
}
distance() { echo $((10#$(cat "$1/z_last") - 10#$(cat "$1/a_first"))); }

@test "a running session stands still while it is copied, although a timer sends it SIGCONT all the time" {
    writer >writer.py
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- python3 writer.py >"$HOME/out" 2>&1 3>&- &
    CHILDREN+=("$!")
    is_ready() { compgen -G "$LAYERS/*/roots/0/upper/ready" >/dev/null; }
    wait_until is_ready
    for number in 1 2 3; do
        works sandbox checkpoint
        distance=$(distance "$LAYERS"/*/checkpoints/$number/upper)
        [[ $distance == 0 || $distance == -1 ]] || report "the files are $distance numbers apart: a process ran"
    done
    # Control: without the freeze the same copy has files of different moments. And the writer runs on.
    differs() {
        rm -rf "$HOME/copy"
        cp -r "$(upper)" "$HOME/copy"
        distance=$(distance "$HOME/copy")
        ((distance != 0 && distance != -1))
    }
    wait_until differs
}

@test "a process that is traced from outside can't be frozen: nothing is saved, and one line names it" {
    start_waiting 'echo 1 >a'
    inside=$(pgrep -n -u "$SBX_USER" -f 'touch ready; while read')
    # Control: without the tracer it works.
    works sandbox checkpoint
    mkfifo "$HOME/hold"
    python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long] * 4
print(libc.ptrace(0x4206, int(sys.argv[1]), 0, 0), flush=True)
open(sys.argv[2]).read()' "$inside" "$HOME/hold" >"$HOME/traced" 3>&- &
    CHILDREN+=("$!")
    wait_until grep -q '^0$' "$HOME/traced"
    fails "is traced or privileged" sandbox checkpoint
    [[ $("$SBX_PROGRAM" rollback --list | wc -l) == 1 ]]
    : >"$HOME/hold"
    wait "${CHILDREN[-1]}"
    works sandbox checkpoint
    do_inside 'cat a'
    end_inside
}

@test "apply writes what a running session has written so far, and undo takes it back; the session runs on" {
    start_waiting 'echo 1 >a; rm docs/old.md'
    before=$(picture)
    works sandbox apply
    says "applied"
    [[ $(cat a) == 1 && ! -e docs/old.md ]]
    do_inside 'echo 2 >a; echo 3 >b'
    prints 1 cat a
    works sandbox apply --undo
    [[ $(picture) == "$before" ]] || report "undo should restore the project"
    works sandbox apply
    prints 2 cat a
    fails "a session uses the layer" sandbox apply --merge
    fails "a session uses the layer" sandbox apply --to-branch other
    fails "a session uses the layer" sandbox discard --yes
    do_inside 'echo 4 >c'
    end_inside
    works sandbox apply
    [[ $(cat a b c) == 2$'\n'3$'\n'4 && ! -e docs/old.md ]]
}

@test "the record has checkpoints and rollbacks, and a session that changed nothing keeps its checkpoints" {
    start_waiting 'echo 1 >a'
    works sandbox checkpoint
    do_inside 'rm a ready'
    end_inside
    is_waiting() { "$SBX_PROGRAM" layers | grep -q waiting; }
    wait_until is_waiting
    works sandbox rollback 1
    run sandbox diff --names
    says "A a"
    "$SBX_PROGRAM" log --json | jq -r 'select(.kind == "layer") | "\(.action) \(.count)"' >"$HOME/log"
    prints "checkpoint 1 rollback 1" xargs <"$HOME/log"
    works sandbox discard --yes
    prints "no layers" sandbox layers
}
