# SPDX-License-Identifier: MIT
# sockets.py KIND [HOST PORT]: opens a socket of an unusual kind and uses it; prints the result, and fails if that fails.
import socket
import struct
import sys
import time

kind, rest = sys.argv[1], sys.argv[2:]
started = time.monotonic()


def udp(host, port):
    family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
    connection = socket.socket(family, socket.SOCK_DGRAM)
    connection.settimeout(3)
    connection.connect(address)
    connection.send(b"hello")
    return connection.recv(2048).decode()


# An unconnected socket does not report the error of an earlier datagram: only an answer counts.
def udp_unconnected(host, port):
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    connection.settimeout(1)
    connection.sendto(b"hello", (host, int(port)))
    return connection.recv(2048).decode()


def raw():
    connection = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    return "raw socket"


def packet():
    connection = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    return "packet socket"


def vsock():
    connection = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    return "vsock socket"


def transparent():
    connection = socket.socket()
    connection.setsockopt(socket.SOL_IP, 19, 1)
    return "transparent socket"


def mark():
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 1)
    return "marked socket"


def abstract(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("\0" + name)
    return connection.recv(100).decode()


def path(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(name)
    return connection.recv(100).decode()


# A request in the first packet (TCP Fast Open).
def fastopen(host, port):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 3, 0))
    connection.sendto(b"GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n", socket.MSG_FASTOPEN, (host, int(port)))
    return connection.recv(4096).decode("latin-1")


try:
    print(globals()[kind](*rest))
except OSError as error:
    print(f"{type(error).__name__}: {error} after {(time.monotonic() - started) * 1000:.0f} ms")
    sys.exit(1)
