#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `mcp`: a server of the Model Context Protocol on standard streams, one session, one jail. mcp.py is its client. tests/agents/mcp.bats has
# real clients.

load helper

setup() {
    start_test
    OUT=$BATS_TEST_TMPDIR
}
teardown() { end_test; }

client() { python3 -B "$SBX_STAGE/tests/jail/mcp.py" "$1" "$SBX_PROGRAM" --quiet "${@:2}"; }
each_backend() {
    local backend
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        in_jail true >/dev/null 2>&1 && echo "$backend"
    done
}
no_session() { [[ -z $("$SBX_PROGRAM" ps --ids) ]]; }
sleeps() { pgrep -u "$SBX_USER" -xf "sleep 1000" >/dev/null; }
sleeps_not() { ! sleeps; }
# start_staying: a client whose command runs in the jail. CLIENT and SERVER are processes.
start_staying() {
    python3 -B "$SBX_STAGE/tests/jail/mcp.py" stays "$SBX_PROGRAM" --quiet </dev/null >"$OUT/server" 2>"$OUT/errors" 3>&- &
    CLIENT=$!
    CHILDREN+=("$CLIENT")
    wait_until test -e began
    SERVER=$(<"$OUT/server")
    works sleeps
}

# bats test_tags=smoke
@test "mcp: run, read, write and why do what they say, by every backend" {
    local backend
    for backend in $(each_backend); do
        mkdir -p sub
        works client tools --backend "$backend"
        rm -rf ./*
    done
}

@test "mcp: read, write and run reach no more than the session, and nothing that steers it is a tool" {
    make_repository .
    mkdir ~/.ssh
    echo "a key that stays outside" >~/.ssh/id_ed25519
    echo TOKEN=secret >.env
    ln -s ~/.ssh/id_ed25519 link-out
    SECRET=$HOME/.ssh/id_ed25519 works client refuses
}

@test "mcp: a run names what the session refused meanwhile, and nothing older" {
    works client names_refusals
}

@test "mcp: longer output has its first and last half, and the whole is in a file inside" {
    works client truncated
}

@test "mcp: without room for the whole output the command goes on, and the result names the reason" {
    works client no_room --limit file_size=1M
}

@test "mcp: timeout_s ends a command, also one that ignores SIGTERM" {
    works client timeout
}

@test "mcp: progress of a run is reported while it runs" {
    works client progress
}

@test "mcp: with --cow changes lists what the session wrote, and the project stays as it was" {
    echo 1 >old
    echo 1 >kept
    works client changes --cow
    prints 1 cat kept
}

@test "mcp: eight calls run at once, and the ninth waits" {
    works client eight_at_once
}

@test "mcp: a client that never reads does not make the server grow, and gets every answer later" {
    works client never_reads
}

@test "mcp: 10,000 requests and 200 calls are answered, once each" {
    works client many_requests
}

@test "mcp: bytes that are not UTF-8, not JSON, too deep or too long get an error, and the server goes on" {
    works client wrong_bytes
}

@test "mcp: a call that is cancelled twice ends its command and has no answer" {
    works client cancels
}

@test "mcp: the session ends with its client, its server and half a line" {
    local victim
    for victim in CLIENT SERVER half; do
        rm -f began
        HALF=${victim#[CS]*} start_staying
        works test -n "$("$SBX_PROGRAM" ps --ids)"
        [[ $victim != SERVER ]] || kill -KILL "$SERVER"
        kill -KILL "$CLIENT"
        wait_until sleeps_not || report "$victim: the command runs on"
        wait_until no_session || report "$victim: the session runs on"
    done
}

@test "mcp: no process of the jail keeps the session after its client" {
    works client clings
    wait_until no_session
    works sleeps_not
    # The control: a pipe can be opened there, so its other end would stay, and a socket can't.
    works python3 -c 'import os; r, w = os.pipe(); open(f"/proc/self/fd/{r}", "w")'
    fails "No such device or address" python3 -c 'import socket; a, b = socket.socketpair(); open(f"/proc/self/fd/{a.fileno()}", "w")'
}

@test "mcp: SIGTERM ends the server and its session" {
    start_staying
    kill -TERM "$SERVER"
    wait_until no_session
    wait_until sleeps_not
}

@test "mcp: the server ends with its session, and says so" {
    works client lost
    [[ $output == *"has ended, and the server with it"* ]] || report "should name the end"
}

@test "mcp: a traced session, which takes no added command, is refused at the start" {
    refused 125 "the session is traced" "$SBX_PROGRAM" --quiet --trace-files mcp
    prints "" "$SBX_PROGRAM" --quiet mcp </dev/null
}

@test "mcp: a jail that can't be built, words and a jail around it are refused in one line" {
    refused 2 "takes no words" "$SBX_PROGRAM" mcp extra
    refused 125 "" "$SBX_PROGRAM" --quiet --project "$HOME" mcp
    run -0 --separate-stderr in_jail_sh 'printf "" | /run/agent-sandbox/agent-sandbox mcp || exit 0'
    [[ $stderr == *"mcp is for the outside of a jail"* ]] || report "inside: $stderr"
    # The control: without words, a project that may be one.
    prints "" "$SBX_PROGRAM" --quiet mcp </dev/null
}
