#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tmux in tmux: the server outside is not reachable, the server inside is separate and configured so that both can be used together.

load helper

setup() {
    start_test
    SERVER=sbx-$SBX_TAG-t$BATS_TEST_NUMBER
    CONFIGURATION=$PROJECT/tmux.conf
    cp "$SBX_STAGE/share/tmux/tmux.conf" "$CONFIGURATION"
    tmux -L "$SERVER" -f /dev/null new-session -d -x 80 -y 24 \
        "env PS1='ready> ' HISTFILE=/dev/null bash --norc --noprofile -i" 3>&-
    expect shows "ready>"
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    end_test
}

screen() { tmux -L "$SERVER" capture-pane -p "$@"; }
shows() { screen | grep -qF -- "$1"; }
keys() { tmux -L "$SERVER" send-keys "$@"; }
line() { keys -l "$1" && keys Enter; }
expect() { wait_until "$@" || { screen >&2; return 1; }; }

# answer COMMAND: the output of a command in the shell of the outer or inner tmux, whichever is in front.
answer() {
    rm -f answer
    line "{ $1; } >answer.new 2>&1; mv answer.new answer; clear"
    wait_until test -e answer || { screen >&2; return 1; }
    cat answer
}
says() {
    local text=$1
    shift
    output=$(answer "$*") status=$?
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
}

start_inner() {
    line "clear; $SBX_PROGRAM --quiet -- tmux -f $CONFIGURATION new-session -n inner 'env PS1=\"inside> \" HISTFILE=/dev/null bash --norc --noprofile -i'"
    expect shows "inside>"
}

@test "the server outside is out of reach" {
    # The control: a process on the same terminal, outside, controls the server.
    says "80x24" "tmux display-message -p '#{window_width}x#{window_height}'"
    says "No such file" "$SBX_PROGRAM --quiet -- tmux display-message -p reached"
    says "No such file" "$SBX_PROGRAM --quiet -- tmux -S \${TMUX%%,*} display-message -p reached"
    says "<><><>" "TMUX_TMPDIR=/tmp $SBX_PROGRAM --quiet -- sh -c 'echo \"<\$TMUX><\$TMUX_PANE><\$TMUX_TMPDIR>\"'"
    # The variables of the terminal do not pass in the mode "inherit" either.
    says "<>" "AGENT_SANDBOX_ENV_MODE=inherit $SBX_PROGRAM --quiet -- sh -c 'echo \"<\$TMUX\$TMUX_PANE\$TMUX_TMPDIR>\"'"
}

@test "tmux inside has a server of its own, with its own prefix" {
    start_inner
    expect shows "[jail]"
    says "C-]" "tmux show-options -gv prefix"
    # The inner prefix makes an inner window; the outer tmux still has one window.
    keys C-] c
    expect shows "1:"
    prints 1 tmux -L "$SERVER" display-message -p '#{session_windows}'
    # The inner prefix also detaches the inner client.
    keys C-] d
    expect shows "[detached"
}

@test "colours, keys, mouse and notices pass through both" {
    start_inner
    says on "tmux show-options -gv mouse"
    says 256color "tmux display-message -p \\\$TERM; echo \$TERM"
    says Tc "tmux show-options -s terminal-overrides"
    says 10 "tmux show-options -sv escape-time"
    says on "tmux show-options -gwv allow-passthrough"
    says on "tmux show-options -sv extended-keys"
    prints 1 tmux -L "$SERVER" display-message -p '#{mouse_any_flag}'
    tmux -L "$SERVER" set-option -ga terminal-overrides ',*:Tc'
    line 'clear; printf "\033[38;2;1;200;3mcoloured\033[0m\n"'
    expect has_colour
}
has_colour() { screen -e | grep -qF $'\033[38;2;1;200;3m'; }

@test "a resize reaches the inner windows" {
    start_inner
    tmux -L "$SERVER" resize-window -x 101 -y 33
    wait_until says_size "101x32"
}
says_size() { [[ $(answer "tmux display-message -p '#{window_width}x#{window_height}'") == "$1" ]]; }

@test "~/.tmux.conf applies inside, except for the prefix" {
    printf 'source-file %s\nset -g prefix C-a\nset -g status-left "habit "\n' "$CONFIGURATION" >"$HOME/.tmux.conf"
    line "clear; $SBX_PROGRAM --quiet -- tmux new-session -n inner 'env PS1=\"inside> \" bash --norc --noprofile -i'"
    expect shows "inside>"
    expect shows "habit"
    says "C-]" "tmux show-options -gv prefix"
}

@test "tmux reads the configuration without an error" {
    start_inner
    says "quiet" "tmux source-file $CONFIGURATION && echo quiet"
    [[ $output == quiet ]] || report "should say nothing else"
}
