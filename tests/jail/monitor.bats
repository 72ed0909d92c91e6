#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The monitor in a real tmux: what it shows, its keys, and the terminal afterwards.

load helper
load screen

setup() {
    start_test
    PLACE=/tmp/agent-sandbox-u$(id -u)
    rm -rf "$PLACE"
    SERVER=sbx-$SBX_TAG-m$BATS_TEST_NUMBER
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    end_test
    rm -rf "$PLACE"
}

start_terminal() { # WIDTH HEIGHT
    start_screen "$1" "$2"
    tmux -L "$SERVER" set-option -g status off
    tmux -L "$SERVER" resize-window -x "$1" -y "$2"
    expect shows "ready>"
}

hides() { ! shows "$1"; }

start_monitor() {
    line "$SBX_PROGRAM monitor"
    expect is alternate_on 1
}

in_order() {
    expect is alternate_on 0
    expect is cursor_flag 1
    expect is wrap_flag 1
    works diff <(echo "$BEFORE") <(settings)
}

SLEEP='touch ready; exec sleep 1000'
ids() { "$SBX_PROGRAM" ps --ids; }
is_count() { [[ $(ids | wc -l) == "$1" ]]; }

@test "sessions come and go on the screen, and keys select and end them" {
    start_terminal 80 24
    BEFORE=$(settings)
    start_monitor
    expect shows "no session is running"
    start_jail "$SLEEP"
    expect shows "1 session"
    expect shows "> $(ids)"
    expect shows "~/project"
    expect shows "Limits"
    expect shows "memory"
    local first
    first=$(ids)
    start_jail "$SLEEP"
    expect shows "2 sessions"
    # The selected session stays selected when another one starts.
    expect shows "> $first"
    keys Up
    expect hides "> $first"
    keys j
    expect shows "> $first"
    keys '?'
    expect shows "the session above"
    keys '?'
    expect hides "the session above"
    keys s
    expect shows "end session $first? y/n"
    keys n
    expect hides "y/n"
    is_count 2
    keys s
    expect shows "y/n"
    keys y
    wait_until is_count 1
    expect shows "1 session"
    keys q
    in_order
    is_count 1
}

@test "every row fits a screen of 40x10, and a resize redraws the screen" {
    start_terminal 40 10
    start_jail "$SLEEP"
    start_monitor
    expect shows "> $(ids)"
    expect shows "q quit"
    [[ $(screen | wc -l) == 10 ]]
    [[ $(screen | head -n1) == "agent-sandbox: 1 session"* ]]
    tmux -L "$SERVER" resize-window -x 80 -y 24
    expect shows "COMMAND"
    expect shows "s stop"
    [[ $(screen | grep -c "q quit") == 1 ]]
    tmux -L "$SERVER" resize-window -x 20 -y 5
    expect shows "agent-sandbox: 1 se"
    keys q
    expect is alternate_on 0
}

@test "the terminal is as it was after Ctrl-C and after signals" {
    start_terminal 80 24
    BEFORE=$(settings)
    start_monitor
    keys C-c
    in_order
    local signal
    for signal in TERM INT HUP QUIT; do
        start_monitor
        expect shows "no session is running"
        pkill -"$signal" -u "$SBX_USER" -xf "$SBX_PROGRAM monitor"
        in_order
    done
}

@test "a question is answered with a key" {
    start_terminal 80 24
    JAIL=(--network filtered --ask)
    start_jail 'touch ready; curl -sS --noproxy "*" http://unknown.example:81/; touch done; exec sleep 1000'
    start_monitor
    expect shows "unknown.example:81"
    expect shows "Waiting for your answer"
    expect shows "1 question"
    keys d
    expect shows "denied unknown.example:81"
    wait_until test -e done
    grep -q "the user denied it" "$BATS_TEST_TMPDIR/jail.out"
    expect shows "Refused"
    keys a
    expect shows "waits for no answer"
    keys q
    expect is alternate_on 0
}

@test "nothing is written while nothing changes" {
    start_terminal 80 24
    start_monitor
    expect shows "no session is running"
    tmux -L "$SERVER" pipe-pane -o "cat >$PROJECT/written"
    sleep 1.5
    tmux -L "$SERVER" pipe-pane
    [[ ! -s written ]] || { od -c written >&2; return 1; }
    keys q
}

@test "a session that does not answer is marked, and delays nothing" {
    start_terminal 80 24
    start_jail "$SLEEP"
    local stopped=$SUPERVISOR
    kill -STOP "$stopped"
    start_monitor
    expect shows "does not answer"
    keys '?'
    expect shows "the session above"
    refused 1 "does not answer" "$SBX_PROGRAM" allow a.example
    kill -CONT "$stopped"
    keys '?'
    expect shows "Limits"
    keys q
    expect is alternate_on 0
}

@test "a command line with escape sequences is shown as text" {
    start_terminal 80 24
    "$SBX_PROGRAM" --quiet -- sh -c 'touch ready; exec sleep 1000' $'\033[2Jowned\033]0;title\a' </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e ready
    start_monitor
    expect shows "> $(ids)"
    expect shows "q quit"
    [[ $(asks '#{pane_title}') != title ]]
    keys q
    expect is alternate_on 0
    works "$SBX_PROGRAM" ps
    [[ $output != *$'\033'* ]] || report "prints no escapes"
}

@test "monitor --once prints text or JSON, and is required without a terminal" {
    works "$SBX_PROGRAM" monitor --once
    [[ $output == "agent-sandbox: no session is running" ]] || report "says so"
    start_jail "$SLEEP"
    works "$SBX_PROGRAM" monitor --once
    [[ $output == *"> $(ids)"* && $output != *"q quit"* && $output != *$'\033'* ]] || report "the screen without keys"
    [[ $("$SBX_PROGRAM" monitor --once --json | member sessions 0 session session) == "$(ids)"* ]] || report "the status of each"
    refused 2 "needs a terminal" "$SBX_PROGRAM" monitor
    refused 2 "needs --once" "$SBX_PROGRAM" monitor --json
}
