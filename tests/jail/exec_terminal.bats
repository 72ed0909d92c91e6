#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `exec` on a terminal, in a real tmux: the command has a terminal of its own, and the caller's is as before afterwards.

load helper
load screen

setup() {
    start_test
    SERVER=sbx-$SBX_TAG-$BATS_TEST_NUMBER
    start_jail 'touch ready; exec sleep 1000'
    start_screen 80 24
    wait_until shows "ready>"
    EXEC="$SBX_PROGRAM exec --"
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    end_test
}

client() { pgrep -u "$SBX_USER" -f "^$SBX_PROGRAM exec" -o; }

FULL='stty raw -echo; printf "\033[?1049h\033[?25l\033[?1000h\033[?2004h"; echo drawn; touch up; exec sleep 999'
start_full() {
    BEFORE=$(settings)
    rm -f up
    line "$EXEC sh -c '$FULL'"
    expect test -e up
    expect is alternate_on 1
    expect is cursor_flag 0
}

# The backends that this machine has.
each_backend() {
    local backend
    for backend in native bwrap firejail landlock; do
        "$SBX_PROGRAM" --quiet --backend "$backend" -- true >/dev/null 2>&1 && echo "$backend"
    done
}
restart_jail() { # OPTION...
    kill "$SUPERVISOR"
    end_of_jail
    JAIL=("$@")
    start_jail 'touch ready; exec sleep 1000'
}

@test "the command has a controlling terminal of the caller's size, and a resize reaches it, by every backend" {
    local backend
    for backend in $(each_backend); do
        restart_jail --backend "$backend"
        line "clear; $EXEC bash -c 'trap \"echo size \\\$(stty size)\" WINCH; stty size </dev/tty; echo up; while :; do sleep 0.02; done'"
        expect says "24 80"
        expect says up
        tmux -L "$SERVER" resize-window -x 101 -y 33
        expect says "size 33 101"
        keys C-c
        tmux -L "$SERVER" resize-window -x 80 -y 24
        line "clear; until [[ \$(stty size) == '24 80' ]]; do sleep 0.02; done; echo $backend done"
        expect says "$backend done"
    done
}

@test "Ctrl-C ends the command, the caller's shell gets 130, and the terminal is as before" {
    BEFORE=$(settings)
    line "$EXEC sleep 999"
    wait_until pgrep -u "$SBX_USER" -xf "sleep 999"
    keys C-c
    line 'echo status $?'
    expect says "status 130"
    in_order
}

@test "a shell inside has job control" {
    line "$EXEC bash --norc --noprofile -i"
    expect shows "bash-"
    line 'sleep 998'
    wait_until pgrep -u "$SBX_USER" -xf "sleep 998"
    keys C-z
    expect shows "Stopped"
    line 'fg'
    continues() { [[ $(ps -o stat= -p "$(pgrep -u "$SBX_USER" -xf "sleep 998")") == S* ]]; }
    wait_until continues
    keys C-c
    is_interrupted() { ! pgrep -u "$SBX_USER" -xf "sleep 998" >/dev/null; }
    wait_until is_interrupted
    line 'exit 5'
    # Keys that are typed before belong to the added command.
    is_over() { ! client; }
    wait_until is_over
    line 'echo status $?'
    expect says "status 5"
}

@test "vim works and leaves the screen as it was" {
    BEFORE=$(settings)
    echo "first line" >file
    line "$EXEC vim -u NONE -N file"
    expect is alternate_on 1
    expect shows "first line"
    keys -l 'ochanged' && keys Escape
    line ':wq'
    expect is alternate_on 0
    [[ $(tail -n 1 file) == changed ]]
    in_order
}

@test "the terminal is in order after a full-screen program, its client, its supervisor or its stage is killed" {
    local victim
    for victim in command client supervisor stage; do
        start_full
        case $victim in
            command) kill -KILL "$(pgrep -u "$SBX_USER" -xf 'sleep 999')" ;;
            client) kill -KILL "$(client)" ;;
            supervisor) kill -KILL "$SUPERVISOR" ;;
            stage) kill -KILL "$(ps -o ppid= -p "$(pgrep -u "$SBX_USER" -xf 'sleep 1000')")" ;;
        esac
        in_order
        is_gone() { ! pgrep -u "$SBX_USER" -xf "sleep 999" >/dev/null; }
        wait_until is_gone
        [[ $victim != supervisor ]] || { end_of_jail; start_jail 'touch ready; exec sleep 1000'; }
    done
    left() { pgrep -u "$SBX_USER" -x "asb-terminal"; }
    is_free() { ! left; }
    wait_until is_free
}

@test "a script gets the terminal back in order when the client is killed" {
    BEFORE=$(settings)
    cat >outer <<SCRIPT
$EXEC sh -c '$FULL'
until [ -e go ]; do sleep 0.02; done
read answer
echo got \$answer
SCRIPT
    line "sh outer"
    expect test -e up
    expect is alternate_on 1
    kill -KILL "$(client)"
    expect is alternate_on 0
    touch go
    line hello
    expect says "got hello"
    in_order
}

@test "a terminal that is passed in keeps its size, and one that the jail makes has its own, by every backend" {
    local backend mode resize='stty rows 19; stty size; stty rows 24' name='stty rows 19 </dev/tty; stty size; stty rows 24 </dev/tty'
    # The control: the same outside.
    for mode in "$resize" "$name"; do
        line "clear; $mode"
        expect says "19 80"
    done
    for backend in $(each_backend); do
        restart_jail --backend "$backend"
        for mode in "-T -- sh -c '$resize'" "-- sh -c '$resize'" "-- sh -c '$name'"; do
            line "clear; $SBX_PROGRAM exec $mode; echo over $backend"
            expect says "over $backend"
            shows "Operation not permitted" || report "$backend: $mode: $(screen)"
            says "24 80" || report "$backend: $mode: $(screen)"
        done
        # Landlock hides the names of terminals, which `script` needs.
        [[ $backend != landlock ]] || continue
        for mode in "$resize" "$name"; do
            line "clear; $SBX_PROGRAM exec -- script -qec '$mode' /dev/null; echo over $backend"
            expect says "over $backend"
            shows "19 " || report "$backend: script: $mode: $(screen)"
        done
    done
}

@test "streams are passed as they are with -T and in a pipeline" {
    line "$SBX_PROGRAM exec -T -- sh -c 'tty </dev/tty; test -t 1; echo terminal \$?'"
    expect says "terminal 0"
    line "$EXEC sh -c 'test -t 1; echo terminal \$?' | cat"
    expect says "terminal 1"
    line "$EXEC sh -c 'echo again >/dev/stderr'"
    expect says again
}
