# SPDX-License-Identifier: MIT
# Python's servers: HTTP, and TLS (OpenSSL) that requests a second hello from each client. They answer with the name that they saw.
import http.server
import socket
import socketserver
import ssl
import sys
import threading
from urllib.parse import urlsplit

folder, address, http_port, tls_port = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = self.headers.get("Content-Length", "0")
        self.rfile.read(int(length) if length.isdigit() else 0)
        try:
            in_target = urlsplit(self.path).netloc if "://" in self.path else ""
        except ValueError:
            in_target = self.path
        hosts = self.headers.get_all("Host") or [""]
        body = "".join(f"[[{host}]]" for host in hosts + [in_target]).encode("latin-1")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *arguments):
        pass


class Tls(socketserver.BaseRequestHandler):
    # The connection is encrypted after a second hello, so the server sends the name in clear text after the handshake, whether it
    # failed or not.
    def handle(self):
        names = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.load_cert_chain(f"{folder}/default.pem")
        context.set_ecdh_curve("secp384r1")
        context.sni_callback = lambda connection, name, old: names.append(name)
        channel = self.request.dup()
        try:
            context.wrap_socket(self.request, server_side=True)
        except (OSError, ssl.SSLError):
            pass
        try:
            channel.sendall("".join(f"[[{name or ''}]]" for name in names).encode())
            channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, address):
        pass


class Web(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def handle_error(self, request, address):
        pass


threading.Thread(target=Server((address, tls_port), Tls).serve_forever, daemon=True).start()
Web((address, http_port), Handler).serve_forever()
