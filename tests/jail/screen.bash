# SPDX-License-Identifier: MIT
# A terminal in tmux, whose server is $SERVER: keys that are typed there, and the text that it shows.

start_screen() { # WIDTH HEIGHT
    # -f: no configuration of the host's. A login shell would read start-up files.
    tmux -L "$SERVER" -f /dev/null new-session -d -x "$1" -y "$2" \
        "env PS1='ready> ' HISTFILE=/dev/null bash --norc --noprofile -i" 3>&-
}

# shellcheck disable=SC2120 # the tests that load this file pass arguments
screen() { tmux -L "$SERVER" capture-pane -p "$@"; }
shows() { screen | grep -qF -- "$1"; }
keys() { tmux -L "$SERVER" send-keys "$@"; }
line() { keys -l "$1" && keys Enter; }
asks() { tmux -L "$SERVER" display-message -p "$1"; }
is() { [[ $(asks "#{$1}") == "$2" ]]; }
expect() { wait_until "$@" || { screen >&2; return 1; }; }

# The settings of the terminal, as the shell left them for a command.
settings() {
    rm -f "$PROJECT/settings"
    line "stty -a >settings.new; mv settings.new settings; clear"
    expect test -e "$PROJECT/settings"
    cat "$PROJECT/settings"
}

# A whole line of the screen: not what was typed, but what came of it.
says() { screen | grep -qxF -- "$1"; }

# The terminal is as it was when BEFORE got its settings.
in_order() {
    expect is alternate_on 0
    expect is cursor_flag 1
    expect is mouse_any_flag 0
    works diff <(echo "$BEFORE") <(settings)
}
