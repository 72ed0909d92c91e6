#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The network of the backends that can't configure one: the doorman passes each connection to the gateway. The rules and the
# messages for a program are the same. No test leaves this machine: the gateway answers the names itself, or refuses them before it
# sends a query.

load helper
setup() { start_test; }
teardown() { end_test; }

# each_backend FUNCTION: calls it with both backends.
each_backend() {
    for BACKEND in firejail landlock; do
        echo "with $BACKEND"
        "$1"
    done
}

network() { JAIL=(--backend "$BACKEND" --network "$@"); }
# The backend prints at each start what it does not enforce. Another test checks that.
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }

# says TEXT COMMAND...: the command's output contains TEXT, whatever its exit status.
says() {
    local text=$1
    shift
    run "$@"
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
}

HOST=host.agent-sandbox.internal
# Without the proxy from the variables.
FETCH=(curl -sS --noproxy '*' --max-time 30)

# A service on the host's loopback that greets in HTTP and logs each client; PORT is its port.
start_service() {
    python3 -c '
import contextlib, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client = listener.accept()[0]
    with open(sys.argv[1], "a") as log:
        log.write("came\n")
    with contextlib.suppress(OSError), client, client.makefile() as lines:
        while lines.readline().strip():
            pass
        client.sendall(b"HTTP/1.0 200 OK\r\n\r\nthe service\n")' "$BATS_TEST_TMPDIR/came" </dev/null >"$BATS_TEST_TMPDIR/port" 2>/dev/null 3>&- &
    CHILDREN+=($!)
    wait_until test -s "$BATS_TEST_TMPDIR/port"
    PORT=$(<"$BATS_TEST_TMPDIR/port")
}
visits() { grep -c came "$BATS_TEST_TMPDIR/came" 2>/dev/null || true; }

# Connects, sends a line if one is given, and prints the first line of the answer.
TALK='import socket, sys
address, port, *lines = sys.argv[1:]
connection = socket.create_connection((address, int(port)), 10)
for line in lines:
    connection.sendall(line.encode() + b"\r\n\r\n")
print(connection.makefile().readline() or "closed")'

@test "a service of the host can be reached by its name and by 127.0.0.1, only if its port is permitted" {
    start_service
    prints "the service" "${FETCH[@]}" "http://127.0.0.1:$PORT/"
    only_this_port() {
        local before
        network filtered --host-port "$PORT"
        prints "the service" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
        prints "the service" in_jail curl -sS --max-time 30 "http://$HOST:$PORT/"
        network proxied --host-port "$PORT"
        local address
        for address in 127.0.0.1 localhost "[::1]" "[::ffff:127.0.0.1]"; do
            prints "the service" in_jail "${FETCH[@]}" "http://$address:$PORT/"
        done
        before=$(visits)
        # firejail's jail has its own loopback, on which nothing listens.
        local words=loopback mapped=refused
        [[ $BACKEND != firejail ]] || words="Failed to connect" mapped="Failed to connect"
        says "$words" in_jail "${FETCH[@]}" "http://127.0.0.2:$PORT/"
        # Another port, and no port.
        local mode
        for mode in filtered proxied; do
            network "$mode" --host-port 9
            says "$words" in_jail "${FETCH[@]}" "http://127.0.0.1:$PORT/"
            says "$mapped" in_jail "${FETCH[@]}" "http://[::ffff:127.0.0.1]:$PORT/"
            says "open it with --host-port $PORT" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
            network "$mode"
            fails "Could not resolve host" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
            says "refused" in_jail curl -sS --max-time 30 "http://$HOST:$PORT/"
        done
        network isolated
        fails "" in_jail "${FETCH[@]}" "http://$HOST:$PORT/"
        fails "" in_jail "${FETCH[@]}" "http://127.0.0.1:$PORT/"
        [[ $(visits) == "$before" ]] || leak "it was reached"
    }
    each_backend only_this_port
}

@test "names are looked up through the gateway, and a blocked name is refused" {
    lookups() {
        network filtered --host-port 9
        says "$HOST" in_jail getent hosts "$HOST"
        fails "" in_jail getent hosts pastebin.com
        says "pastebin.com:80 is refused" in_jail curl -sS --max-time 30 http://pastebin.com/
        [[ $output == *"policy, not a fault"*do_not_retry* ]] || report "should say that it is policy"
        network filtered --block-host blocked.example
        says "blocked.example" in_jail curl -sS --max-time 30 http://blocked.example/
        network proxied
        says "refused" in_jail curl -sS --max-time 30 http://not-named.example/
        network isolated --host-port 9
        fails "" in_jail getent hosts "$HOST"
    }
    each_backend lookups
}

@test "literal addresses, and mail to any address, are refused" {
    literals() {
        network filtered
        says "403" in_jail python3 -c "$TALK" 10.0.0.1 80 "GET / HTTP/1.0"
        says "403" in_jail python3 -c "$TALK" 169.254.169.254 80 "GET / HTTP/1.0"
        local port
        for port in 25 587; do
            says "554 " in_jail python3 -c "$TALK" 203.0.113.5 "$port"
            [[ $output == *"policy, not a fault"* ]] || report "should say that it is policy"
        done
        says "554 " in_jail python3 -c "$TALK" 198.18.0.3 25
        says "SSH-2.0-agent_sandbox" in_jail python3 -c "$TALK" 203.0.113.5 22 "SSH-2.0-test"
        network isolated
        fails "" in_jail python3 -c "$TALK" 203.0.113.5 25
    }
    each_backend literals
}

@test "UDP, and TCP that is opened without connect, are refused" {
    start_service
    # sendto with MSG_FASTOPEN
    local send='import socket, sys
kind, flags, port = map(int, sys.argv[1:])
step = "socket"
try:
    made = socket.socket(socket.AF_INET, kind)
    step = "send"
    made.sendto(b"GET / HTTP/1.0\r\n\r\n", flags, ("127.0.0.1", port))
except OSError as error:
    sys.exit(f"{step}: {error.strerror}")
print("sent")'
    local fast=(python3 -c "$send" 1 $((0x20000000)) "$PORT") datagram=(python3 -c "$send" 2 0 53)
    prints sent "${fast[@]}"
    prints sent "${datagram[@]}"
    wait_until eval '(($(visits) == 1))'
    around() {
        local mode
        for mode in filtered proxied; do
            network "$mode"
            fails "send: Operation not supported" in_jail "${fast[@]}"
            fails "socket: " in_jail "${datagram[@]}"
        done
    }
    each_backend around
    [[ $(visits) == 1 ]] || leak "it was reached"
}

# A socket that is disconnected from the gateway must not be free to connect elsewhere.
@test "a socket that is disconnected and connected again is checked again" {
    start_service
    local again='import ctypes, socket, sys
address, first, second = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = socket.create_connection((address, first))
if ctypes.CDLL(None).connect(connection.fileno(), bytes(16), 16) != 0:
    sys.exit("the first connection can not be ended")
try:
    connection.connect(("127.0.0.1", second))
except OSError as error:
    sys.exit(f"second: {error.strerror}")
connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
print(connection.makefile().read())'
    says "the service" python3 -c "$again" 127.0.0.1 "$PORT" "$PORT"
    local before
    before=$(visits)
    twice() {
        network filtered
        local words=403
        [[ $BACKEND != firejail ]] || words="second: Connection refused"
        says "$words" in_jail python3 -c "$again" 198.18.0.1 3128 "$PORT"
    }
    each_backend twice
    [[ $(visits) == "$before" ]] || leak "it was reached"
}

@test "each decision is a line in the session's record" {
    recorded() {
        wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null
        network filtered --block-host blocked.example
        says "refused" in_jail curl -sS --max-time 30 http://blocked.example/
        says "554 " in_jail python3 -c "$TALK" 203.0.113.5 25
        works grep -rh '"verdict":"deny"' "$HOME/.local/state/agent-sandbox/sessions"
        [[ $output == *blocked.example* && $output == *203.0.113.5*'"port":25'* ]] || report "should be recorded"
        prints "" find "$HOME/.local/state/agent-sandbox/sessions" -type f ! -perm 0600
        works ls "$HOME/.local/state/agent-sandbox"
        fails "" in_jail ls "$HOME/.local/state/agent-sandbox"
    }
    each_backend recorded
}

@test "firejail's jail has a loopback of its own, to listen on and to connect to" {
    JAIL=(--backend firejail --network filtered)
    works in_jail python3 -c 'import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.sendall(b"hello\n")
print(server.accept()[0].recv(100))'
    [[ $output == *hello* ]] || report "nothing came through"
    start_service
    local connect='import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))'
    works python3 -c "$connect" "$PORT"
    fails "ConnectionRefusedError" in_jail python3 -c "$connect" "$PORT"
}
