#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `agent-sandbox notify`: a bell and a line of plain text for the user, from any process in the jail. The tests look from the other
# side of a real terminal: script(1) records every byte that arrives there, tmux marks the window.

load helper

INSIDE=/run/agent-sandbox/agent-sandbox
BELL=$'\a'
ESCAPE=$'\033'

setup() {
    start_test
    SERVER=sbx-$SBX_TAG-n$BATS_TEST_NUMBER
    export TERM=xterm-256color
}
teardown() {
    tmux -L "$SERVER" kill-server 2>/dev/null || true
    end_test
}

# at_terminal COMMAND...: runs it with a terminal of its own; SEEN gets the output that arrived there, $status the exit status.
at_terminal() {
    local words
    printf -v words '%q ' "$@"
    run script -qefc "$words" "$BATS_TEST_TMPDIR/seen" </dev/null
    # Without the lines that script itself adds.
    SEEN=$(sed -e '1{/^Script started/d}' -e '/^Script done/d' "$BATS_TEST_TMPDIR/seen")
}

sees() { [[ $SEEN == *"$1"* ]] || { printf 'should be seen: %q in %q\n' "$1" "$SEEN" >&2; return 1; }; }
sees_not() { [[ $SEEN != *"$1"* ]] || { printf 'LEAK: should not be seen: %q in %q\n' "$1" "$SEEN" >&2; return 1; }; }
bells() { tr -cd '\a' <<<"$SEEN" | wc -c; }

notice() { printf '\033]777;notify;agent-sandbox;%s\a\a' "$1"; }

@test "outside, notify rings its own terminal" {
    at_terminal "$SBX_PROGRAM" notify "the build" is done
    ((status == 0))
    sees "$(notice "the build is done")"
}

@test "inside, it rings the user's terminal" {
    at_terminal "$SBX_PROGRAM" --quiet -- "$INSIDE" notify "the build" is done
    ((status == 0))
    sees "$(notice "the build is done")"
}

@test "a process without a controlling terminal reaches it as well" {
    # The control: this process can't open a terminal.
    at_terminal "$SBX_PROGRAM" --quiet -- setsid -w sh -c ": </dev/tty" </dev/null
    ((status != 0))
    at_terminal "$SBX_PROGRAM" --quiet -- setsid -w sh -c "exec </dev/null >/dev/null 2>&1; $INSIDE notify from a hook"
    ((status == 0))
    sees "$(notice "from a hook")"
}

@test "a jail whose standard error alone is a terminal rings that one" {
    at_terminal setsid -w sh -c "exec </dev/null >/dev/null; $SBX_PROGRAM --quiet -- $INSIDE notify on the error stream"
    ((status == 0))
    sees "$(notice "on the error stream")"
}

@test "without a terminal notify fails with a message" {
    refused 1 "the jail has no terminal to ring; no notification was sent" \
        setsid -w "$SBX_PROGRAM" --quiet -- "$INSIDE" notify hello </dev/null
    refused 1 "no terminal to ring; no notification was sent" setsid -w "$SBX_PROGRAM" notify hello </dev/null
}

@test "only plain characters of a text reach the terminal" {
    local hostile=$'\033[31mred\033]0;title\a\x9b31m\r\nsecond \xe2\x80\xaeline\xc2\x85 end'
    # The control: a terminal receives all of it.
    at_terminal printf '%s' "$hostile"
    sees "${ESCAPE}[31m"
    sees "${ESCAPE}]0;title"
    at_terminal "$SBX_PROGRAM" --quiet -- "$INSIDE" notify "$hostile"
    sees "$(notice "[31mred ]0;title 31m second line end")"
    sees_not "${ESCAPE}["
    sees_not "${ESCAPE}]0"
    # The same for a process that writes to the socket without the verb.
    at_terminal "$SBX_PROGRAM" --quiet -- python3 -c 'import os, socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(os.fsencode(sys.argv[1]), "/run/agent-sandbox/notify")' "$hostile"
    ((status == 0))
    sees "$(notice "[31mred ]0;title 31m second line end")"
    sees_not "${ESCAPE}["
    sees_not "${ESCAPE}]0"
}

@test "a long text is cut" {
    at_terminal "$SBX_PROGRAM" --quiet -- "$INSIDE" notify "$(printf 'x%.0s' {1..5000})"
    ((status == 0))
    sees "$(notice "$(printf 'x%.0s' {1..200})")"
}

@test "a flood becomes one notice per second, and the last one is shown" {
    at_terminal "$SBX_PROGRAM" --quiet -- python3 -c '
import contextlib, itertools, socket, time
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect("/run/agent-sandbox/notify")
end = time.monotonic() + 2
for number in itertools.count(1):
    if time.monotonic() > end:
        break
    with contextlib.suppress(BlockingIOError):
        sender.send(b"number %d" % number, socket.MSG_DONTWAIT)
time.sleep(1)
sender.send(b"the last")'
    ((status == 0))
    # Two bells for each: the end of the sequence and the bell itself.
    (($(bells) >= 4 && $(bells) <= 12)) || report "$(bells) bells"
    sees "$(notice "the last")"
}

@test "a terminal that would print the sequence gets the bell alone" {
    export TERM=linux
    at_terminal "$SBX_PROGRAM" --quiet -- "$INSIDE" notify hello
    ((status == 0))
    sees "$BELL"
    sees_not hello
}

has_bell() { [[ $(tmux -L "$SERVER" list-windows -F '#{window_name} #{window_bell_flag}') == *"jailed 1"* ]]; }
has_no_bell() { [[ $(tmux -L "$SERVER" list-windows -F '#{window_name} #{window_bell_flag}') == *"jailed 0"* ]]; }

@test "tmux marks the window, and its panes show nothing of the notice" {
    tmux -L "$SERVER" -f /dev/null new-session -d -n front -x 80 -y 24 "sleep 1000" 3>&-
    tmux -L "$SERVER" new-window -d -n jailed -c "$PROJECT" \
        "$SBX_PROGRAM --quiet -- sh -c 'touch ready; until [ -e go ]; do sleep 0.02; done; $INSIDE notify hello; touch rung; sleep 1000'" 3>&-
    wait_until test -e ready
    has_no_bell
    touch go
    wait_until test -e rung
    wait_until has_bell
    run tmux -L "$SERVER" capture-pane -p -t jailed
    [[ $output != *hello* && $output != *tmux* ]] || report "should show nothing"
}

@test "the socket has no name on the host while the jail runs, and none is left" {
    at_terminal "$SBX_PROGRAM" --quiet -- sh -c "test -S /run/agent-sandbox/notify"
    ((status == 0))
    script -qec "$SBX_PROGRAM --quiet -- sh -c 'touch ready; exec sleep 1000'" /dev/null </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e ready
    # If SIGHUP is ignored, the session outlives its terminal.
    CHILDREN+=("$(pgrep -P "$!")")
    prints "" find "$HOME/.local/state/agent-sandbox/notify" -type s
}

@test "notify without a text is refused" {
    refused 2 "usage: agent-sandbox notify TEXT" "$SBX_PROGRAM" notify
}
