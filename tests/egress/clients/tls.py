# SPDX-License-Identifier: MIT
# tls.py HOST PORT SNI [--pieces N] [--records N] [--alpn-bytes N] [--host NAME] [--via connect|socks]
# A TLS connection to HOST with another name, or no name for "-", in its ClientHello. It can send the ClientHello in pieces of N bytes,
# split it into records of N bytes, or enlarge it by N bytes. Then it sends one request and prints the answer.
import argparse
import os
import socket
import ssl
import struct
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("host")
parser.add_argument("port", type=int)
parser.add_argument("sni")
parser.add_argument("--pieces", type=int, default=0)
parser.add_argument("--records", type=int, default=0)
parser.add_argument("--alpn-bytes", type=int, default=0)
parser.add_argument("--host", dest="name", default="")
parser.add_argument("--via", default="")
options = parser.parse_args()

context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
context.check_hostname = False
if options.alpn_bytes:
    context.set_alpn_protocols(["http/1.1"] + ["x" * 250] * (options.alpn_bytes // 251))
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
session = context.wrap_bio(incoming, outgoing, server_hostname=None if options.sni == "-" else options.sni)


def in_records(flight, size):
    result, at = b"", 0
    while at < len(flight):
        kind, version, length = struct.unpack_from(">BHH", flight, at)
        body = flight[at + 5:at + 5 + length]
        at += 5 + length
        for start in range(0, length, size):
            part = body[start:start + size]
            result += struct.pack(">BHH", kind, version, len(part)) + part
    return result


def connect():
    if options.via == "connect":
        connection = socket.create_connection(("198.18.0.1", 3128), timeout=10)
        connection.sendall(f"CONNECT {options.host}:{options.port} HTTP/1.1\r\nHost: {options.host}:{options.port}\r\n\r\n".encode())
        reply = connection.recv(4096)
        if b" 200 " not in reply:
            sys.exit(reply.decode("latin-1"))
        return connection
    return socket.create_connection((options.host, options.port), timeout=10)


connection = connect()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def flush(size=0):
    data = outgoing.read()
    for at in range(0, len(data), size or len(data) or 1):
        connection.sendall(data[at:at + (size or len(data))])
        if size:
            time.sleep(0.002)


def more():
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the connection was closed")
    incoming.write(data)


def finish(step):
    while True:
        try:
            result = step()
            flush()
            return result
        except ssl.SSLWantReadError:
            flush()
            more()


try:
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        if options.records:
            first = in_records(outgoing.read(), options.records)
            outgoing.write(first)
        flush(options.pieces)
    finish(session.do_handshake)
    name = options.name or (options.host if options.sni == "-" else options.sni)
    session.write(f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
    flush()
    print(finish(lambda: session.read(65536)).decode())
except (OSError, ssl.SSLError) as error:
    sys.exit(f"refused: {error}")
