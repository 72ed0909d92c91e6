#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Which bubblewrap the program may run, and the result when bubblewrap can't build a jail. The test mounts another one over the
# system's own in a private mount namespace.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

# stand_in SHELL-TEXT: a program at /usr/bin/bwrap that runs this text.
stand_in() {
    printf '#!/bin/sh\n%s\n' "$1" >"$STAGE/bwrap"
    chmod 0755 "$STAGE/bwrap"
    PREPARE="mount --bind '$STAGE/bwrap' /usr/bin/bwrap"
}

refuses() {
    refused 125 "$1" in_jail touch "$PROJECT/ran"
    [[ ! -e $PROJECT/ran ]] || leak "the command ran"
}

pinned() { user_says '[isolation]' "bwrap = \"$1\""; }

# bats test_tags=smoke
@test "control: the system's bubblewrap works" {
    JAIL=(--backend bwrap)
    works in_jail true
}

@test "the native backend does not run bubblewrap" {
    stand_in "touch '$SBX_HOME/ran'; exit 1"
    prints native in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
    [[ ! -e $SBX_HOME/ran ]] || leak "it was run"
    JAIL=(--backend bwrap)
    run in_jail true
    [[ -e $SBX_HOME/ran ]] || report "the control should run it"
    rm -f "$SBX_HOME/ran"
}

@test "a bubblewrap that belongs to the caller is not run" {
    JAIL=(--backend bwrap)
    stand_in "touch '$SBX_HOME/ran'; exit 1"
    chown "$SBX_USER" "$STAGE/bwrap"
    refuses bwrap
    [[ ! -e $SBX_HOME/ran ]] || leak "it was run"
}

@test "automatic selection skips a bubblewrap that may not be run, and a message reports it" {
    AROUND=(python3 "$SBX_STAGE/tests/admin/closed_namespaces.py" refuse)
    stand_in "touch '$SBX_HOME/ran'; exit 1"
    chown "$SBX_USER" "$STAGE/bwrap"
    works in_jail touch "$PROJECT/ran"
    [[ $output == *"only a root-owned bwrap is run: firejail builds the jail instead"* ]] || report "it was not told"
    [[ ! -e $SBX_HOME/ran ]] || leak "it was run"
    rm -f "$PROJECT/ran"
}

@test "a bubblewrap that others may write is not run" {
    JAIL=(--backend bwrap)
    stand_in "touch '$SBX_HOME/ran'; exit 1"
    chmod 0777 "$STAGE/bwrap"
    refuses bwrap
    [[ ! -e $SBX_HOME/ran ]] || leak "it was run"
}

@test "a bubblewrap that can't be executed is named" {
    JAIL=(--backend bwrap)
    stand_in :
    chmod 0644 "$STAGE/bwrap"
    refuses bwrap
}

@test "a bubblewrap that is too old for an option is an error that quotes its message" {
    JAIL=(--backend bwrap)
    stand_in 'echo "bwrap: Unknown option --argv0" >&2; exit 1'
    refuses "Unknown option"
}

@test "a bubblewrap that exits without a message is an error" {
    JAIL=(--backend bwrap)
    stand_in 'exit 0'
    refuses "without a word"
    stand_in 'kill -KILL $$'
    refuses bubblewrap
}

@test "escape sequences in messages of bubblewrap do not reach the terminal" {
    JAIL=(--backend bwrap)
    stand_in 'printf "bad \033[31m news\n" >&2; exit 1'
    refuses news
    [[ $stderr != *$'\e'* ]] || leak "an escape sequence came through"
}

@test "a pinned bubblewrap that is missing is an error, and no other backend is used" {
    pinned /usr/lib/no-such-bwrap
    refuses no-such-bwrap
}

@test "a pinned bubblewrap of the caller is not run" {
    as_user cp /usr/bin/bwrap "$SBX_HOME/bwrap"
    pinned "$SBX_HOME/bwrap"
    refuses bwrap
    rm -f "$SBX_HOME/bwrap"
}

@test "a pinned bubblewrap of root works, and is preferred to the native backend" {
    install -m 0755 /usr/bin/bwrap "$STAGE/good-bwrap"
    pinned "$STAGE/good-bwrap"
    prints bwrap in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
    works on_stage "$SBX_PROGRAM" doctor
    [[ $output =~ bwrap\ +taken ]] || report "doctor says otherwise"
    JAIL=(--backend native)
    prints native in_jail sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
}

@test "a setuid bubblewrap works or is refused with a message" {
    JAIL=(--backend bwrap)
    install -m 4755 /usr/bin/bwrap "$STAGE/bwrap"
    PREPARE="mount --bind '$STAGE/bwrap' /usr/bin/bwrap"
    run --separate-stderr in_jail id -u
    if ((status == 0)); then
        [[ $output == "$(id -u "$SBX_USER")" ]] || report "another user"
    else
        ((status == 125)) && [[ $stderr == "agent-sandbox: "* ]] || report "neither works nor is refused"
    fi
}
