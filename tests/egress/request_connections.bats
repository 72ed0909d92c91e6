#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Connections that stay open between requests, where the gateway reads them: a server that closes one, that gives no answer, or that sends
# one too many. The control of each is the same client outside.

load helper

setup() {
    start_egress_test
    user_says '[requests]' 'ask = ["POST echo.example:9007/**"]' 'block = ["DELETE echo.example:9007/**"]'
    proxied
    cat >kept.py <<'END'
import socket, sys
server = socket.create_connection(("echo.example", 9007), 100)
received = b""

def answer():
    global received
    while b"\r\n\r\n" not in received:
        piece = server.recv(65536)
        if not piece:
            return "closed"
        received += piece
    head, _, received = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(received) < length:
        received += server.recv(65536)
    body, received = received[:length], received[length:]
    return body.decode()

for request in sys.argv[1:]:
    try:
        server.sendall(b"%s HTTP/1.1\r\nHost: echo.example:9007\r\nContent-Length: 0\r\n\r\n" % request.encode())
        print("[" + answer() + "]", flush=True)
    except ConnectionError:
        print("[closed]", flush=True)
END
    log_mark
}
teardown() { end_egress_test; }

control() { as_user "$SBX_PROGRAM" "$@"; }

@test "a request that waited for the user's answer arrives although its server closed the connection meanwhile" {
    start_obedient_jail
    tell_jail "(python3 kept.py 'GET /hold' 'POST /asked' >answers 2>&1; touch ended) >/dev/null 2>&1 &"
    asks() { [[ $(control pending) == *"POST echo.example:9007/asked"* ]]; }
    wait_until asks
    says /release outside curl -sS --max-time 60 http://echo.example:9007/release
    works control approve
    wait_until test -e ended
    [[ $(<answers) == "[/hold]"$'\n'"[/asked]" ]] || report "should be answered: $(<answers)"
    seen world "keep 1 b'/asked'"
}

@test "a later request without an answer ends the connection, so that the client tries again" {
    prints "[/hold]"$'\n'"[closed]" outside python3 kept.py "GET /hold" "GET /drop"
    prints "[/hold]"$'\n'"[closed]" in_jail python3 kept.py "GET /hold" "GET /drop"
    says "server closed the connection before its answer" in_jail curl -sS --max-time 60 http://echo.example:9007/never
}

@test "an answer that no request asked for is not taken for the next answer" {
    says "[unasked]" outside python3 kept.py "GET /more" "GET /next"
    works in_jail python3 kept.py "GET /more" "GET /next"
    [[ $output == "[/more]"* && $output != *unasked* ]] || report "should have the own answer or the end of the connection"
}

# The server ignores bodies: what follows a head is the next request.
@test "a request in the body of a GET is not run by a server that ignores the body" {
    cat >smuggle.py <<'END'
import socket, sys
inner = b"DELETE /smuggled HTTP/1.1\r\nHost: echo.example:9007\r\n\r\n"
server = socket.create_connection(("echo.example", 9007), 100)
server.sendall(b"%s /first HTTP/1.1\r\nHost: echo.example:9007\r\nContent-Length: %d\r\n\r\n%s" % (sys.argv[1].encode(), len(inner), inner))
server.shutdown(socket.SHUT_WR)
print(b"".join(iter(lambda: server.recv(65536), b"")).decode())
END
    says /smuggled outside python3 smuggle.py GET
    seen world "keep 2 b'/smuggled'"
    log_mark
    says "200 OK" in_jail python3 smuggle.py GET
    says "200 OK" in_jail python3 smuggle.py OPTIONS
    seen world "keep 1 b'/first'"
    unseen world smuggled
}
