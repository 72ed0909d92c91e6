# SPDX-License-Identifier: MIT
# server.py ADDRESS PORT FOLDER [CERTIFICATE KEY]: a model server for the protocols of the agents; conversation.py makes its
# answers. Each request is a file in FOLDER: NUMBER.json with path, headers and body. FOLDER/port holds the port once the server
# listens.
import gzip
import http.server
import itertools
import json
import os
import re
import ssl
import sys
import urllib.parse

import anthropic
import chat
import gemini
import responses

PROTOCOLS = [anthropic, responses, chat, gemini]
ADDRESS, PORT, FOLDER = sys.argv[1], int(sys.argv[2]), sys.argv[3]
NUMBERS = itertools.count(1)


# A reader never sees half a file.
def write(name, text):
    with open(f"{FOLDER}/.{name}", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{FOLDER}/.{name}", f"{FOLDER}/{name}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def serve(self):
        data = self.body()
        path = urllib.parse.urlsplit(self.path).path
        try:
            body = json.loads(data)
        except ValueError:
            body = data.decode(errors="replace")
        record = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
        write(f"{next(NUMBERS):04}.json", json.dumps(record, ensure_ascii=False, indent=1))
        if self.command == "POST" and isinstance(body, dict):
            for protocol in PROTOCOLS:
                if re.search(protocol.PATH, path):
                    return self.reply(200, *protocol.answer(protocol.read(body), body, path))
            if path.endswith("/count_tokens") or path.endswith(":countTokens"):
                return self.reply(200, "application/json", '{"input_tokens": 10, "totalTokens": 10}')
        # Codex tries a web socket first, and after this answer at once plain HTTP.
        if self.headers.get("Upgrade"):
            return self.reply(426, "application/json", '{"error": {"message": "there are no web sockets here"}}')
        return self.reply(404, "application/json", '{"error": {"message": "there is nothing here"}}')

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    # Agents close the connection when they have read enough.
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)


os.makedirs(FOLDER, exist_ok=True)
server = Server((ADDRESS, PORT), Handler)
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[4:6])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
write("port", str(server.server_address[1]))
server.serve_forever()
