#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ports of the host's loopback that --host-port opens, with the backends that build a network namespace. tests/jail/handed_network.bats has
# the others.

load helper
setup() { start_test; }
teardown() { end_test; }

network() { JAIL=(--backend "$BACKEND" --network "$@"); }

each_backend() {
    for BACKEND in native bwrap; do
        echo "with $BACKEND"
        "$1"
    done
}

# A service on the host's loopback that sends back what it gets, in hexadecimal digits; PORT is its port.
start_echo() {
    python3 -c '
import contextlib, socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client = listener.accept()[0]
    with contextlib.suppress(OSError), client:
        got = b""
        while part := client.recv(65536):
            got += part
        client.sendall(got.hex().encode())' </dev/null >"$BATS_TEST_TMPDIR/port" 2>/dev/null 3>&- &
    CHILDREN+=($!)
    wait_until test -s "$BATS_TEST_TMPDIR/port"
    PORT=$(<"$BATS_TEST_TMPDIR/port")
}

# say ADDRESS PORT HEX: sends these bytes, ends its side, and prints the answer.
SAY='import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
connection.sendall(bytes.fromhex(sys.argv[3]))
connection.shutdown(socket.SHUT_WR)
print(connection.makefile().read())'
say() { python3 -c "$SAY" "$@"; }

@test "every byte string reaches a port of the host, by its name and by its address, filtered and proxied" {
    start_echo
    local strings=(
        15030100020100                           # a TLS alert
        50524f58592054435034203139322e302e322e31 # a PROXY header
        0d0a0d0a474554202f                       # empty lines before a request
        01474554202f20485454502f312e310d0a0d0a   # a control byte before a request
        505249202a20485454502f322e300d0a0d0a     # HTTP/2 without TLS
        802e010301                               # a hello in the format of SSL 2
        00
        474554202f20485454502f312e310d0a486f73743a2070617374656269 # the beginning of a request for a closed name
    )
    local bytes mode address
    for bytes in "${strings[@]}"; do prints "$bytes" say 127.0.0.1 "$PORT" "$bytes"; done
    pass() {
        for mode in filtered proxied; do
            network "$mode" --host-port "$PORT"
            for address in 127.0.0.1 host.agent-sandbox.internal; do
                for bytes in "${strings[@]}"; do prints "$bytes" in_jail python3 -c "$SAY" "$address" "$PORT" "$bytes"; done
            done
        done
    }
    each_backend pass
}

@test "a program in the jail can't bind a port of the host, and can bind every other" {
    start_echo
    local bind='import socket, sys
socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("bound")'
    taken() {
        network filtered --host-port "$PORT"
        fails "Address already in use" in_jail python3 -c "$bind" "$PORT"
        prints bound in_jail python3 -c "$bind" 0
        network filtered
        prints bound in_jail python3 -c "$bind" "$PORT"
        # The port of a server in the jail that is visible outside stays the jail's.
        network filtered --host-port "$PORT" --publish "$FREE:$PORT"
        prints bound in_jail python3 -c "$bind" "$PORT"
        prints 78 in_jail python3 -c "$SAY" host.agent-sandbox.internal "$PORT" 78
    }
    FREE=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    each_backend taken
}

@test "a port of the host without its option, and another address of loopback, stay closed" {
    start_echo
    prints 78 say 127.0.0.1 "$PORT" 78
    closed() {
        local mode
        for mode in filtered proxied isolated; do
            network "$mode"
            fails "Connection refused" in_jail python3 -c "$SAY" 127.0.0.1 "$PORT" 78
            fails "Connection refused" in_jail python3 -c "$SAY" ::1 "$PORT" 78
        done
        network filtered --host-port "$PORT"
        fails "Connection refused" in_jail python3 -c "$SAY" 127.0.0.2 "$PORT" 78
        network isolated --host-port "$PORT"
        fails "Connection refused" in_jail python3 -c "$SAY" 127.0.0.1 "$PORT" 78
    }
    each_backend closed
}
