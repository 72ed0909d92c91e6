# SPDX-License-Identifier: MIT
# For bench/credentials: how long an event of a stream takes. Server and client are on one machine and read one clock.
#
#   events.py serve ADDRESS PORT CERTIFICATE KEY
#   events.py read ADDRESS PORT NAME ROOTS COUNT    prints the median and the 99th percentile in milliseconds
import http.server
import socket
import ssl
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(int(self.path[1:])):
            event = f"data: {time.monotonic()}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            time.sleep(0.01)
        self.wfile.write(b"0\r\n\r\n")


def serve(address, port, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


def read(address, port, name, roots, count):
    context = ssl.create_default_context(cafile=roots)
    client = context.wrap_socket(socket.create_connection((address, int(port))), server_hostname=name)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.sendall(f"GET /{count} HTTP/1.1\r\nHost: {name}:{port}\r\n\r\n".encode())
    lines, delays = client.makefile("rb"), []
    while len(delays) < int(count):
        line = lines.readline()
        if line.startswith(b"data: "):
            delays.append((time.monotonic() - float(line[6:])) * 1000)
    delays.sort()
    print(f"{delays[len(delays) // 2]:.3f} {delays[len(delays) * 99 // 100]:.3f}")


{"serve": serve, "read": read}[sys.argv[1]](*sys.argv[2:])
