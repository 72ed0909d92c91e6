#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Regular files at descriptors 0, 1 and 2: the command reads and writes the data that the caller redirected, and nothing more of the
# file.

load helper

setup() {
    start_test
    LOG=$HOME/log INPUT=$HOME/input
    printf 'earlier\n' >"$LOG"
    printf 'one\ntwo\nthree\n' >"$INPUT"
    chmod 0600 "$LOG" "$INPUT"
}
teardown() { end_test; }

# Each line that it prints to the file `said` is an action that worked on the file behind the descriptor.
ACTS='
import contextlib, fcntl, os, stat
said = open("said", "w")
def attempt(act, *arguments):
    with contextlib.suppress(OSError):
        return act(*arguments)
again = attempt(os.open, "/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
if again is not None and attempt(os.read, again, 7):
    said.write("read\n")
other = attempt(os.open, "/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
if other is not None and stat.S_ISREG(os.fstat(other).st_mode):
    said.write("wrote input\n")
said.write("all tried\n")
attempt(os.fchmod, 0, 0o666)
attempt(os.fchmod, 1, 0o666)
attempt(os.utime, 1, (1, 1))
attempt(os.ftruncate, 1, 0)
attempt(fcntl.fcntl, 1, fcntl.F_SETFL, os.O_WRONLY)
attempt(os.open, "/dev/stdout", os.O_WRONLY | os.O_TRUNC)
attempt(os.open, "/dev/stderr", os.O_WRONLY | os.O_TRUNC)
os.write(1, b"said\n")
'

# bats test_tags=smoke
@test "control: outside, a log's descriptor can read, truncate and change the file" {
    python3 -c "$ACTS" <"$INPUT" >>"$LOG"
    [[ $(cat said) == $'read\nwrote input\nall tried' ]] || report "$(cat said)"
    [[ $(stat -c %a "$LOG" "$INPUT") == $'666\n666' ]]
    ! grep -q earlier "$LOG" || report "not truncated"
}

# bats test_tags=smoke
@test "a log that is opened for appending can't be read, truncated or changed, by any backend" {
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        rm -f said
        touch -d @1000000000 "$LOG"
        in_jail python3 -c "$ACTS" <"$INPUT" >>"$LOG"
        [[ $(cat said) == "all tried" ]] || report "$backend: $(cat said)"
        [[ $(stat -c %a "$LOG" "$INPUT") == $'600\n600' ]] || leak "$backend changed a mode"
        [[ $(head -n 1 "$LOG") == earlier && $(tail -n 1 "$LOG") == said ]] || report "$backend: $(cat "$LOG")"
        (($(stat -c %Y "$LOG") > 1000000000)) || leak "$backend: the time stands"
        [[ $(cat "$INPUT") == $'one\ntwo\nthree' ]] || leak "$backend wrote the input"
    done
}

@test "output and errors to one file keep their order, through /dev/stderr too" {
    in_jail_sh 'echo a; echo b >&2; echo c; echo d >/dev/stderr; echo e >/dev/stdout' >"$LOG" 2>&1
    [[ $(cat "$LOG") == $'a\nb\nc\nd\ne' ]] || report "$(cat "$LOG")"
    in_jail_sh 'echo out; echo err >&2' >"$LOG" 2>"$HOME/errors"
    [[ $(cat "$LOG" "$HOME/errors") == $'out\nerr' ]]
}

@test "large output and large input arrive whole" {
    head -c 20000000 /dev/urandom >"$HOME/large"
    in_jail cat <"$HOME/large" >"$LOG"
    cmp "$HOME/large" "$LOG"
    in_jail sh -c 'cat; cat "$0"' /dev/null <"$HOME/large" >>"$LOG"
    cmp <(cat "$HOME/large" "$HOME/large") "$LOG"
}

@test "the caller reads the input on from where the command stopped" {
    { in_jail_sh 'read -r first; echo "$first"'; cat; } <"$INPUT" >"$LOG"
    [[ $(cat "$LOG") == $'one\ntwo\nthree' ]] || report "$(cat "$LOG")"
    while read -r line; do in_jail true && echo "$line"; done <"$INPUT" >"$LOG"
    [[ $(cat "$LOG") == $'one\ntwo\nthree' ]] || report "$(cat "$LOG")"
}

@test "the caller's next output follows the command's output" {
    { in_jail echo inside; echo outside; } >"$LOG"
    [[ $(cat "$LOG") == $'inside\noutside' ]]
}

@test "output that can't be written is reported, and the exit status is not 0" {
    works sh -c 'echo fits >"$1"' sh "$LOG"
    run bash -c 'ulimit -f 1; "$1" --quiet -- head -c 100000 /dev/zero 2>&1 >"$2"' bash "$SBX_PROGRAM" "$LOG"
    ((status != 0)) || report "exit status"
    [[ $output == *"File too large"* ]] || report "not told"
}

@test "output that was written before the supervisor was killed arrives" {
    start_jail 'echo early; touch ready; exec sleep 1000'
    kill -KILL "$SUPERVISOR"
    wait_until grep -qx early "$BATS_TEST_TMPDIR/jail.out"
}
