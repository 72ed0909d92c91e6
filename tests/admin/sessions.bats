#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions of one user, and what another user can see of them.

load helper

setup() {
    start_admin_test copy # a rule comes while a session runs
    chmod 0755 "$SBX_HOME"
    PLACE=/tmp/agent-sandbox-u$(id -u "$SBX_USER")
    OTHER_PLACE=/tmp/agent-sandbox-u$(id -u "$SBX_NEIGHBOUR")
    rm -rf "$PLACE" "$OTHER_PLACE"
    CHILDREN=()
}
teardown() {
    local user process ids
    cd /
    chmod 0700 "$PLACE" "$PLACE/sessions" 2>/dev/null || true
    for user in as_user as_neighbour; do
        ids=$($user "$SBX_PROGRAM" ps --ids)
        [[ -z $ids ]] || $user "$SBX_PROGRAM" stop --now $ids
    done
    for process in "${CHILDREN[@]}"; do kill "$process" 2>/dev/null || true; done
    rm -rf "$PLACE" "$OTHER_PLACE" "$SBX_NEIGHBOUR_HOME/project" "$SBX_HOME/.local/state/agent-sandbox/sessions"
    end_admin_test
}

as_neighbour() {
    runuser -u "$SBX_NEIGHBOUR" -- env HOME="$SBX_NEIGHBOUR_HOME" USER="$SBX_NEIGHBOUR" "$@"
}

# start USER-FUNCTION DIRECTORY
start() {
    (cd "$2" && exec 3>&- && $1 "$SBX_PROGRAM" --quiet -- sh -c 'touch ready; exec sleep 1000') </dev/null >/dev/null 2>&1 &
    CHILDREN+=($!)
    wait_until test -e "$2/ready"
}


@test "another user sees no session and reaches no control socket" {
    cd "$PROJECT"
    start as_user "$PROJECT"
    local socket
    socket=$(echo "$PLACE"/sessions/*/control)
    works as_user "$SBX_PROGRAM" ps
    [[ ${#lines[@]} == 2 ]] || report "its user sees it"
    works as_user "${ASK[@]}" "$socket" '{"do":"status"}'
    [[ $output == *'"ok":true'* ]] || report "its user is answered"
    cd "$SBX_NEIGHBOUR_HOME"
    prints "no session is running" as_neighbour "$SBX_PROGRAM" ps
    fails "connect: Permission denied" as_neighbour "${ASK[@]}" "$socket" '{"do":"status"}'
    # Also when the variable names the directory.
    prints "no session is running" as_neighbour XDG_RUNTIME_DIR="$PLACE" "$SBX_PROGRAM" ps
    # Even where the modes permit a connection from another user, the session does not answer.
    chmod 0755 "$PLACE" "$PLACE/sessions" "$PLACE"/sessions/*
    chmod 0666 "$socket"
    fails "no answer" as_neighbour "${ASK[@]}" "$socket" '{"do":"status"}'
}

@test "neither a live rule nor --observe lifts the administrator's rules" {
    cd "$PROJECT"
    admin_says '[network]' 'block = ["closed.example"]' 'observe = false'
    start on_stage "$PROJECT"
    works as_user "$SBX_PROGRAM" allow open.example
    fails "closed.example stays refused" as_user "$SBX_PROGRAM" allow closed.example
    [[ $output == *"config.toml"* ]] || report "should name the administrator's file"
    fails "network.observe" on_stage "$SBX_PROGRAM" --observe -- true
}

@test "a port can't be published where the administrator locks network.publish, and by no other user" {
    cd "$PROJECT"
    local port
    port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    start on_stage "$PROJECT"
    works as_user "$SBX_PROGRAM" publish "$port"
    works as_user "$SBX_PROGRAM" publish --end "$port"
    fails "no session is running" as_neighbour "$SBX_PROGRAM" publish "$port"
    admin_says 'lock = ["network.publish"]'
    fails "network.publish" as_user "$SBX_PROGRAM" publish "$port"
    [[ $output == *"config.toml"* && $output == *"locks it"* ]] || report "should name the administrator's file"
    works as_user "$SBX_PROGRAM" ps
    [[ $output != *"$port"* ]] || report "should not be published"
    fails "" python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)' "$port"
}

@test "nothing runs without a record that the administrator requires" {
    cd "$PROJECT"
    works in_jail true
    local state=$SBX_HOME/.local/state/agent-sandbox/sessions
    [[ -n $(ls "$state"/*.jsonl) ]] || report "kept by itself"
    rm -rf "$state"
    user_says '[audit]' 'enabled = false'
    works in_jail true
    [[ ! -e $state ]] || report "not where its user wants none"
    admin_says '[audit]' 'enabled = true'
    run in_jail true
    [[ -n $(ls "$state"/*.jsonl 2>/dev/null) || $status != 0 ]] || report "kept, whatever the user says: $output"
    rm "$USER_CONFIG"
    rm -rf "$state"
    echo "no directory" >"$state"
    fails "sessions" in_jail touch ran
    [[ ! -e ran ]] || leak "nothing may run without it"
    # If the administrator does not require records, the user gets a message and the command runs.
    admin_says '[network]' 'observe = false'
    works in_jail touch ran
    [[ $output == *"not recorded"* && -e ran ]] || report "should say so, and run"
}

# Threat: every user can write /tmp; another user who creates the name first would own the directory of the victim's sessions.
@test "a directory in /tmp that another user made is not used" {
    as_user mkdir -m 0777 "$OTHER_PLACE" "$OTHER_PLACE/sessions"
    as_neighbour mkdir "$SBX_NEIGHBOUR_HOME/project"
    start as_neighbour "$SBX_NEIGHBOUR_HOME/project"
    prints "" ls "$OTHER_PLACE/sessions"
    cd "$SBX_NEIGHBOUR_HOME"
    works as_neighbour "$SBX_PROGRAM" ps
    [[ ${#lines[@]} == 2 ]] || report "it is found elsewhere"
    # A session that another user planted there is not listed as one of the neighbour's.
    local planted
    planted=$OTHER_PLACE/sessions/$(printf 'a%.0s' {1..32})
    as_user mkdir -m 0777 "$planted"
    as_user sh -c 'echo "{}" >"$1/session.json"; touch "$1/lock"; chmod 666 "$1/lock"' sh "$planted"
    # One process, and no function, so that its end is the end of all of it.
    runuser -u "$SBX_USER" -- flock --no-fork "$planted/lock" sleep 1000 3>&- &
    CHILDREN+=($!)
    works as_neighbour "$SBX_PROGRAM" ps
    [[ ${#lines[@]} == 2 && $output != *aaaaaaaa* ]] || report "shows its own only"
    works test -e "$planted/lock"
}
