# SPDX-License-Identifier: MIT
# load.py in-a-row N HOST PORT | at-once N HOST PORT | loris N HOST PORT | unread HOST PORT | names N | lookups N | half-close N HOST PORT
# Bounded load by one client; prints how many requests succeeded.
import concurrent.futures
import os
import socket
import sys
import time

kind, rest = sys.argv[1], sys.argv[2:]
REQUEST = b"GET /quiet HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"


def exchange(address, request):
    connection = socket.create_connection(address, timeout=20)
    connection.sendall(request)
    reply = b""
    while data := connection.recv(65536):
        reply += data
    connection.close()
    return reply.endswith(b"quiet\n")


def in_a_row(count, host, port):
    address = (socket.getaddrinfo(host, int(port), socket.AF_INET)[0][4][0], int(port))
    request = REQUEST % host.encode()
    print(sum(exchange(address, request) for _ in range(int(count))))


# All connections are open before the first request.
def at_once(count, host, port):
    address = (socket.getaddrinfo(host, int(port), socket.AF_INET)[0][4][0], int(port))
    connections = [socket.create_connection(address, timeout=20) for _ in range(int(count))]
    for connection in connections:
        connection.sendall(REQUEST % host.encode())
    good = 0
    for connection in connections:
        reply = b""
        while data := connection.recv(65536):
            reply += data
        good += reply.endswith(b"quiet\n")
    print(good)


# Sends heads that never end, a byte at a time: from loris.up until loris.end, for a second at least; prints the number of
# connections.
def loris(count, host, port):
    connections = [socket.create_connection((host, int(port)), timeout=20) for _ in range(int(count))]
    for connection in connections:
        connection.sendall(b"GET /smuggled HTTP/1.1\r\nHost: " + host.encode() + b"\r\nX: ")
    open("loris.up", "w").close()
    for turn in range(600):
        time.sleep(0.1)
        for connection in connections:
            try:
                connection.send(b"x")
            except OSError:
                pass
        if turn >= 10 and os.path.exists("loris.end"):
            break
    print(len(connections))


# Sends for two seconds to a server that does not read, and does not read itself; prints how many bytes it could send.
def unread(host, port):
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.setblocking(False)
    taken, end = 0, time.monotonic() + 2
    block = bytes(1 << 16)
    while time.monotonic() < end:
        try:
            taken += connection.send(block)
        except BlockingIOError:
            time.sleep(0.01)
    print(taken)


# Looks up many names: each gets an address of its own, and the first name keeps its address.
def names(count):
    def look_up(number):
        return socket.getaddrinfo(f"n{number}.many.example", 80, socket.AF_INET)[0][4][0]
    first = look_up(0)
    others = {look_up(number) for number in range(1, int(count))}
    print("distinct" if len(others) == int(count) - 1 and first not in others else "shared", "kept" if look_up(0) == first else "lost")


# Many lookups at once; prints the number of different addresses.
def lookups(count):
    def look_up(number):
        return socket.getaddrinfo(f"p{number}.many.example", 80, socket.AF_INET)[0][4][0]
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        print(len(set(pool.map(look_up, range(int(count))))))


# Sends zeros, then closes its direction; prints the answer after that.
def half_close(count, host, port):
    connection = socket.create_connection((host, int(port)), timeout=10)
    connection.sendall(bytes(int(count)))
    connection.shutdown(socket.SHUT_WR)
    print(connection.recv(200).decode())


globals()[kind.replace("-", "_")](*rest)
