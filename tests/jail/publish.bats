#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `publish`: a port of a running session on the host's loopback. tests/egress/inbound.bats has --publish.

load helper
setup() {
    start_test
    PORT=$(free_port)
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }
ids() { sandbox ps --ids; }
free_port() { python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])'; }

# A server inside that answers each connection with its project's name, on port 7000.
SERVER='import os, socket, sys
listener = socket.create_server(("127.0.0.1", 7000))
open("serves", "w").close()
while True:
    client = listener.accept()[0]
    client.sendall(b"from " + os.path.basename(os.getcwd()).encode() + b"\n")
    if sys.argv[1:] != ["hold"]:
        client.close()'

# start_server DIRECTORY [hold]: in a jail of its own; ID is its session.
start_server() {
    local before
    mkdir -p "$1"
    before=$(ids)
    (cd "$1" && exec "$SBX_PROGRAM" --quiet --project . "${JAIL[@]}" -- python3 -c "$SERVER" "${@:2}") </dev/null >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e "$1/serves" || { cat "$BATS_TEST_TMPDIR/out" >&2; return 1; }
    ID=$(ids | grep -vxF "${before:-none}")
}

# visit PORT [ADDRESS]: prints what the server sends.
visit() { python3 -c 'import socket, sys
print(socket.create_connection((sys.argv[2], int(sys.argv[1])), 60).makefile().readline().strip())' "$1" "${2:-127.0.0.1}"; }

record() { sandbox log "$1" --json; }

@test "a port is published while the session runs, shown by ps, closed again, and recorded" {
    local backend id
    for backend in native bwrap; do
        JAIL=(--backend "$backend")
        start_server "$PROJECT/$backend"
        id=$ID
        fails "Connection refused" visit "$PORT"
        prints "session $id: 127.0.0.1:$PORT of the host leads to port 7000 of the jail" sandbox publish "$PORT:7000"
        prints "from $backend" visit "$PORT"
        works sandbox ps
        [[ $output == *PORTS*"$PORT:7000"* ]] || report "ps should show the port"
        [[ $(sandbox ps --json | tr -d ' \n') == *"\"published\":[\"$PORT:7000\"]"* ]] || report "also as data"
        [[ $(sandbox inspect "$id") == *publish*"$PORT:7000"* ]] || report "inspect should show the change"
        prints "session $id: port $PORT of the host is closed" sandbox publish --end "$PORT" "$id"
        fails "Connection refused" visit "$PORT"
        works sandbox ps
        [[ $output != *PORTS* && $output != *"$PORT"* ]] || report "ps should not show the port"
        record "$id" >"$BATS_TEST_TMPDIR/record"
        grep -q "\"action\":\"publish\",\"target\":\"$PORT:7000\",\"verdict\":\"allow\"" "$BATS_TEST_TMPDIR/record" || report "the record should have the port"
        grep -q "\"action\":\"unpublish\",\"target\":\"$PORT\",\"verdict\":\"allow\"" "$BATS_TEST_TMPDIR/record" || report "the record should have its end"
        grep -q '"kind":"publish"' "$BATS_TEST_TMPDIR/record" || report "the record should have the visit"
        works sandbox stop "$id"
    done
}

@test "a published port leaves with its session, and --end closes its connections" {
    start_server "$PROJECT/one" hold
    works sandbox publish "$PORT:7000"
    python3 -c 'import socket, sys
visit = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
print(visit.makefile().readline().strip(), flush=True)
print(repr(visit.recv(1)))' "$PORT" >"$BATS_TEST_TMPDIR/visit" 2>/dev/null 3>&- &
    local visitor=$!
    wait_until grep -q "from one" "$BATS_TEST_TMPDIR/visit"
    works sandbox publish --end "$PORT"
    wait "$visitor"
    grep -q "^b''" "$BATS_TEST_TMPDIR/visit" || report "the connection should be closed"
    works sandbox publish "$PORT:7000"
    prints "from one" visit "$PORT"
    kill -KILL "${CHILDREN[0]}"
    wait_until eval '! visit "$PORT" 2>/dev/null'
    works python3 -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1])))' "$PORT"
}

@test "a published port is open on 127.0.0.1 alone" {
    start_server "$PROJECT/one"
    works sandbox publish "$PORT:7000"
    prints "from one" visit "$PORT"
    local address
    for address in 127.0.0.2 ::1 $(hostname -I); do fails "refused" visit "$PORT" "$address"; done
}

@test "a port in use, a port of root, a word that is not a port and two sessions with one port are refused" {
    start_server "$PROJECT/one"
    local first=$ID
    python3 -c 'import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
time.sleep(600)' "$PORT" >"$BATS_TEST_TMPDIR/taken" 2>/dev/null 3>&- &
    CHILDREN+=($!)
    wait_until grep -q listens "$BATS_TEST_TMPDIR/taken"
    fails "end the program that uses the host's port" sandbox publish "$PORT"
    if (($(</proc/sys/net/ipv4/ip_unprivileged_port_start) > 80)); then
        fails "take another: agent-sandbox publish 8080:80" sandbox publish 80
    fi
    local words
    for words in 0 70000 x 1:2:3 "" -1:2 127.0.0.1:80; do refused 2 "" sandbox publish -- "$words"; done
    refused 2 "publish takes one port" sandbox publish 8080 a b
    fails "is not published" sandbox publish --end "$PORT"

    local port
    port=$(free_port)
    start_server "$PROJECT/two"
    fails "several sessions" sandbox publish "$port:7000"
    works sandbox publish "$port:7000" "$first"
    fails "end the program that uses the host's port" sandbox publish "$port:7000" "$ID"
    fails "is published already" sandbox publish "$port:7000" "$first"
    fails "is published already" sandbox publish "$port:7001" "$first"
    prints "from one" visit "$port"
    fails "is not published" sandbox publish --end "$port" "$ID"
    works sandbox publish --end "$port" "$first"
    works sandbox publish "$port:7000" "$ID"
    prints "from two" visit "$port"
}

@test "the host's service, a session without a gateway and the open network have no port to publish" {
    local service
    service=$(free_port)
    JAIL=(--host-port "$service")
    start_server "$PROJECT/one"
    fails "is a service of the host" sandbox publish "$PORT:$service"
    works sandbox stop "$ID"
    JAIL=(--network isolated)
    start_server "$PROJECT/two"
    fails "start it with --publish $PORT:7000" sandbox publish "$PORT:7000"
    works sandbox stop "$ID"
    JAIL=(--network isolated --publish "$(free_port):7000")
    start_server "$PROJECT/three"
    works sandbox publish "$PORT:7000"
    prints "from three" visit "$PORT"
    works sandbox stop "$ID"
    JAIL=(--network open)
    start_server "$PROJECT/four"
    fails "connect to 127.0.0.1:7000" sandbox publish "$PORT:7000"
}

@test "the jail can't publish a port of its own: no socket of a session is visible, and its verbs are refused" {
    start_server "$PROJECT/one"
    works sandbox publish "$PORT:7000"
    prints "from one" visit "$PORT"
    fails "is for the outside of a jail" in_jail /run/agent-sandbox/agent-sandbox publish "$PORT"
    local control
    control=$(find "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}" "/tmp/agent-sandbox-u$(id -u)" "$HOME/.local/state" -name control -type s 2>/dev/null | head -n 1)
    [[ -S $control ]] || report "no control socket found"
    fails "No such file" in_jail ls "$control"
}
