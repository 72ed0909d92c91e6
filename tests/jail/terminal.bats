#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Full-screen programs, keys and the state of the terminal afterwards, in a real tmux. What a person does at the keyboard works the
# same inside as outside.

load helper
load screen

setup() {
    start_test
    SERVER=sbx-$SBX_TAG-$BATS_TEST_NUMBER
    start_screen 80 24
    tmux -L "$SERVER" set-option -g remain-on-exit on
    wait_until shows "ready>"
    JAIL="$SBX_PROGRAM --quiet --"
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    JAIL=()
    end_test
}


# A program that turns everything on and waits: raw keys, the other screen, no cursor, mouse and paste reports.
FULL='stty raw -echo; printf "\033[?1049h\033[?25l\033[?1000h\033[?2004h"; echo drawn; touch ready; exec sleep 1000'

start_full() {
    BEFORE=$(settings)
    rm -f ready
    line "$JAIL sh -c '$FULL'"
    expect test -e ready
    expect is alternate_on 1
    expect is cursor_flag 0
    expect has_inside
}
# The shell becomes sleep a moment after `ready`, and one of the test before may still be ending.
has_inside() { INSIDE=$(pgrep -u "$SBX_USER" -xf "sleep 1000") && [[ $INSIDE =~ ^[0-9]+$ ]]; }

ancestor() { # of the command, by the name of its program or by its words
    local process=$INSIDE
    while process=$(ps -o ppid= -p "$process" | tr -d ' ') && ((process > 1)); do
        if grep -qzxF -- "$1" "/proc/$process/cmdline"; then
            echo "$process"
            return
        fi
    done
    return 1
}

# bats test_tags=smoke
@test "a resize reaches the program" {
    line "$JAIL bash -c 'trap \"echo size \\\$(stty size)\" WINCH; echo up; while :; do sleep 0.02; done'"
    expect says up
    tmux -L "$SERVER" resize-window -x 101 -y 33
    expect says "size 33 101"
}

@test "Ctrl-C ends a command, Ctrl-Z stops it, fg continues it" {
    line "$JAIL sleep 1000"
    wait_until pgrep -u "$SBX_USER" -xf "sleep 1000"
    keys C-c
    line 'echo status $?'
    expect says "status 130"
    line "clear; $JAIL bash -c 'echo up; read answer; echo got \$answer'"
    expect says up
    keys C-z
    expect shows Stopped
    line "clear; fg"
    expect shows "read answer"
    line hello
    expect says "got hello"
}

@test "a shell inside has job control" {
    line "$JAIL bash --norc --noprofile -i"
    expect shows "bash-"
    line "sleep 1000"
    wait_until pgrep -u "$SBX_USER" -xf "sleep 1000"
    keys C-z
    expect shows Stopped
    line "jobs | sed s/Stopped/listed/; kill %1; fg; echo still here"
    expect shows listed
    expect says "still here"
    line "exit 5"
    line 'echo status $?'
    expect says "status 5"
}

@test "less and vim work and leave the screen as it was" {
    seq 1000 >numbers
    BEFORE=$(settings)
    line "echo marker"
    line "$JAIL less numbers"
    expect is alternate_on 1
    keys G
    expect shows 1000
    keys q
    in_order
    line "$JAIL vi -u NONE numbers"
    expect is alternate_on 1
    keys -l "ggOwritten inside"
    keys Escape
    expect shows "written inside"
    keys C-z
    expect shows Stopped
    line fg
    expect is alternate_on 1
    keys -l ":wq"
    keys Enter
    in_order
    prints "written inside" head -n 1 numbers
}

@test "tmux runs inside" {
    line "$JAIL tmux -f /dev/null new-session 'echo inner; read x; echo got-\$x; read y'"
    expect says inner
    line hello
    expect says got-hello
    line ""
    expect shows "[exited]"
}

has_colour() { screen -e | grep -qF $'\033[38;2;1;200;3m'; }

@test "colours and marked pastes pass through" {
    line "$JAIL sh -c 'printf \"\\033[38;2;1;200;3mcoloured\\033[0m\\n\"'"
    expect has_colour
    line "clear; $JAIL bash --norc --noprofile -i"
    expect shows "bash-"
    tmux -L "$SERVER" set-buffer $'echo first\necho second'
    tmux -L "$SERVER" paste-buffer -p -r
    expect shows "echo second"
    # As one text: nothing was run yet.
    run ! says first
    keys Enter
    expect says first
    expect says second
}

@test "the terminal is in order after a full-screen program is killed" {
    start_full
    kill -KILL "$INSIDE"
    in_order
}

@test "a terminal that the command locked (TIOCEXCL) can be opened again" {
    line "$JAIL python3 -c 'import fcntl, termios; fcntl.ioctl(0, termios.TIOCEXCL); print(\"taken\")'"
    expect says taken
    line 'echo can be opened >/dev/tty'
    expect says "can be opened"
}

@test "a terminal whose output the command stopped (tcflow) shows output again" {
    line "$JAIL python3 -c 'import termios, tty; print(\"stopping\", flush=True); tty.setraw(0); termios.tcflow(1, termios.TCOOFF)'; touch ended"
    expect test -e ended
    line 'echo output $((40 + 2))'
    expect says "output 42"
}

@test "a terminal that the command opened to other users is closed again" {
    line "chmod 600 \"\$(tty)\"; $JAIL python3 -c 'import os; os.fchmod(0, 0o666); print(\"mode %o\" % (os.fstat(0).st_mode & 0o777))'; stat -c 'then %a' \"\$(tty)\""
    expect says "mode 666"
    expect says "then 600"
}

# Through descriptors 0 to 2, /dev/tty and the /dev/console of the jail.
RESIZE='import fcntl, os, struct, termios
for way in "/dev/fd/0", "/dev/fd/1", "/dev/fd/2", "/dev/tty", "/dev/console":
    try:
        terminal = int(way[-1]) if "fd" in way else os.open(way, os.O_RDWR)
    except OSError:
        continue
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 5, 50, 0, 0))
        print("was resized")
    except OSError as error:
        print("resize:", error.strerror)
'

@test "the command can't change the size of the terminal" {
    local backend
    printf '%s' "$RESIZE" >resize.py
    line "python3 resize.py; stty size; stty rows 24 cols 80"
    expect says "was resized"
    expect says "5 50"
    for backend in $(sampled 2 native bwrap landlock firejail); do
        line "clear; $SBX_PROGRAM --quiet --backend $backend -- python3 resize.py; echo over $backend \$(stty size)"
        expect says "over $backend 24 80"
        expect says "resize: Operation not permitted"
        run ! says "was resized"
    done
    line "clear; $SBX_PROGRAM --quiet --trace-commands -- python3 resize.py; echo over traced \$(stty size)"
    expect says "over traced 24 80"
    run ! says "was resized"
    line "clear; $JAIL stty rows 10; echo status \$?"
    expect says "status 1"
    expect shows "Operation not permitted"
    # The size that it has can be set: shells do.
    line "clear; $JAIL stty rows 24; echo status \$?"
    expect says "status 0"
}

@test "terminals that are made inside have their own size" {
    local backend rows=33
    for backend in $(sampled 2 native bwrap); do
        # Each round has a size of its own: that of the round before is on the screen until it is cleared.
        rows=$((rows + 1))
        line "clear; $SBX_PROGRAM --quiet --backend $backend -- script -qc 'stty rows $rows cols 44; stty size; stty size </dev/tty' /dev/null | uniq -c; stty size"
        expect shows "2 $rows 44"
        expect says "24 80"
    done
    line "clear; $JAIL tmux -f /dev/null new-session"
    expect shows "[0]"
    tmux -L "$SERVER" resize-window -x 101 -y 33
    # tmux takes its time for a resize.
    line 'until [[ $(stty size) == "32 101" ]]; do sleep 0.02; done; echo window resized'
    expect says "window resized"
    line "tmux split-window -v; tmux resize-pane -y 7; touch split"
    expect test -e split
    line 'until [[ $(stty size) == "7 101" ]]; do sleep 0.02; done; echo pane resized'
    expect says "pane resized"
}

@test "a resize is seen after the command has tried its own" {
    line "$JAIL bash -c 'stty rows 10; trap \"echo size \\\$(stty size)\" WINCH; echo up; while :; do sleep 0.02; done'"
    expect says up
    tmux -L "$SERVER" resize-window -x 101 -y 33
    expect says "size 33 101"
    keys C-c
    line 'echo after $(stty size)'
    expect says "after 33 101"
}

@test "the terminal is in order after pid 1 of the jail is killed" {
    start_full
    kill -KILL "$(ancestor inner-stage)"
    in_order
}

@test "the terminal is in order after bubblewrap is killed" {
    JAIL="$SBX_PROGRAM --quiet --backend bwrap --"
    start_full
    kill -KILL "$(ancestor bwrap)"
    in_order
}

@test "the terminal is in order after the supervisor is killed" {
    start_full
    kill -KILL "$(ancestor "$SBX_PROGRAM")"
    in_order
}

@test "the terminal is in order after a limit has ended a full-screen program" {
    BEFORE=$(settings)
    # Only what stays is looked at: a busy machine may need the whole time for a look.
    line "$SBX_PROGRAM --quiet --limit wall_time=3 -- sh -c '$FULL'"
    expect shows "limits.wall_time = 3s was reached"
    works test -e ready
    in_order
}

@test "a script gets the terminal back in order when its supervisor is killed" {
    BEFORE=$(settings)
    cat >outer <<SCRIPT
$JAIL sh -c '$FULL'
until [ -e go ]; do sleep 0.02; done
read answer
echo got \$answer
SCRIPT
    line "sh outer"
    expect test -e ready
    expect has_inside
    kill -KILL "$(ancestor "$SBX_PROGRAM")"
    expect is alternate_on 0
    touch go
    line hello
    expect says "got hello"
    in_order
}

is_over() { ! pgrep -u "$SBX_USER" -f "^$SBX_PROGRAM "; }

@test "a jail in the background does not change the terminal of the foreground program" {
    line "$JAIL sh -c 'until [ -e go ]; do sleep 0.02; done' &"
    line "clear; seq 100 | less"
    expect is alternate_on 1
    touch go
    wait_until is_over
    is alternate_on 1
    keys G
    expect says 100
    keys q
    expect is alternate_on 0
}

@test "output through a pipe is neither changed nor delayed" {
    printf 'no end of line' | $JAIL cat >through
    prints "no end of line" cat through
    # A byte arrives while the command is still waiting for the next one.
    mkfifo in out
    $JAIL cat <in >out 3>&- &
    CHILDREN+=($!)
    exec 5>in 6<out
    printf a >&5
    read -r -n 1 -t 120 byte <&6
    [[ $byte == a ]]
    exec 5>&- 6<&-
}
