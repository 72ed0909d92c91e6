# SPDX-License-Identifier: MIT
# peers_listen.py SOCKET ADDRESS:PORT...: answers "here" to every client, for bench/peers.
import contextlib
import os
import select
import socket
import sys

path, *addresses = sys.argv[1:]
listeners = [socket.create_server((address.rpartition(":")[0], int(address.rpartition(":")[2])), backlog=20) for address in addresses]
listeners.append(socket.socket(socket.AF_UNIX))
listeners[-1].bind(path)
listeners[-1].listen(20)
os.chmod(path, 0o666)
while True:
    for listener in select.select(listeners, [], [])[0]:
        client = listener.accept()[0]
        # Protocols differ in which side sends first; here it is always the server.
        with contextlib.suppress(OSError), client:
            client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nhere")
