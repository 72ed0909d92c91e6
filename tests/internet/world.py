# SPDX-License-Identifier: MIT
# world.py FOLDER: the small servers of the world, all in one process. FOLDER/log/world has a line for everything that they receive.
import asyncio
import hashlib
import socket
import struct
import sys

LOG = open(sys.argv[1] + "/log/world", "a", buffering=1)
UDP_ADDRESSES = ["203.0.113.10", "203.0.113.66", "198.51.100.7", "2001:db8:10::10", "10.1.2.3", "169.254.169.254"]


def note(*words):
    print(*words, file=LOG)


async def smtp(port, reader, writer):
    writer.write(b"220 sink ready\r\n")
    while line := await reader.readline():
        note("smtp", port, line)
        writer.write(b"221 bye\r\n" if line.lower().startswith(b"quit") else b"250 ok\r\n")
        await writer.drain()


async def greet(port, reader, writer):
    note("tcp", port)
    writer.write(b"port %d is open\n" % port)
    await writer.drain()


async def echo(port, reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


# Reads to the end, then answers: works only if the gateway passes on a half-close.
async def digest(port, reader, writer):
    count, state = 0, hashlib.sha256()
    while data := await reader.read(1 << 18):
        count += len(data)
        state.update(data)
    writer.write(b"%d %s\n" % (count, state.hexdigest().encode()))
    await writer.drain()


async def never_read(port, reader, writer):
    writer.transport.pause_reading()
    await asyncio.sleep(60)


# Reads once, then sends a reset instead of a normal close.
async def reset(port, reader, writer):
    await reader.read(1)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def endless(port, reader, writer):
    block = bytes(1 << 16)
    while True:
        writer.write(block)
        await writer.drain()


# Like the start of a web socket: after the answer 101 both sides send freely.
async def switch(port, reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    await echo(port, reader, writer)


# HTTP connections that stay open. /hold: until another connection asks for /release. /drop: as a later request of a connection it
# gets no answer. /never: gets none. /more: is answered twice.
HELD = []


async def keep(port, reader, writer):
    count = 0
    while head := await reader.readuntil(b"\r\n\r\n"):
        count += 1
        path = head.split()[1]
        note("keep", count, path)
        if path == b"/never" or (path == b"/drop" and count > 1):
            return
        if path == b"/hold":
            HELD.append(writer)
        if path == b"/release":
            while HELD:
                HELD.pop().close()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path))
        if path == b"/more":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked")
        await writer.drain()
        if b"\r\nconnection: close\r\n" in head.lower():
            return


async def say_what_came(port, reader, writer):
    while data := await reader.read(4096):
        note("raw", port, data)


SERVERS = {25: smtp, 465: smtp, 587: smtp, 2525: smtp, 7: echo, 8444: echo, 9001: digest, 9002: never_read, 9003: reset, 9004: endless,
           9005: say_what_came, 9006: switch, 9007: keep,
           1080: greet}
SERVERS.update({port: greet for port in (23, 24, 79, 113, 512, 513, 514, 853, 8443, 6443, 9000)})


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, port):
        self.port = port

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        note("udp", self.port, data)
        self.transport.sendto(b"echo of " + data, address)


def served(handler, port):
    async def serve(reader, writer):
        try:
            await handler(port, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
    return serve


async def main():
    loop = asyncio.get_running_loop()
    for port, handler in SERVERS.items():
        await asyncio.start_server(served(handler, port), ["0.0.0.0", "::"], port, backlog=4096, limit=1 << 18)
    for address in UDP_ADDRESSES:
        for port in (7, 123, 443, 5353, 9000):
            await loop.create_datagram_endpoint(lambda port=port: Datagrams(port), local_addr=(address, port))
    await asyncio.Event().wait()


asyncio.run(main())
