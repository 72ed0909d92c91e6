# SPDX-License-Identifier: MIT
# host.py FOLDER: services of the host that trust every client: HTTP on both loopback addresses and on every address of the host, an
# abstract socket, a socket file. They run as another user, as on a shared machine.
import os
import socket
import sys
import threading

GREETING = b"a service of the host\n"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(GREETING), GREETING)


def serve(server, reply, waits):
    server.listen(128)
    while True:
        client, _ = server.accept()
        try:
            client.settimeout(5)
            if waits:
                client.recv(4096)
            client.sendall(reply)
        except OSError:
            pass
        client.close()


def listener(family, address):
    server = socket.socket(family)
    if family != socket.AF_UNIX:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind(address)
    return server


path = "/tmp/agent-sandbox-host-service.sock"
if os.path.exists(path):
    os.unlink(path)
services = [
    (listener(socket.AF_INET, ("127.0.0.1", 8001)), HTTP, True),
    (listener(socket.AF_INET6, ("::1", 8001)), HTTP, True),
    (listener(socket.AF_INET, ("0.0.0.0", 8002)), HTTP, True),
    (listener(socket.AF_INET6, ("::", 8002)), HTTP, True),
    (listener(socket.AF_INET, ("127.0.0.1", 5433)), GREETING, False),
    (listener(socket.AF_UNIX, "\0agent-sandbox-host-service"), GREETING, False),
    (listener(socket.AF_UNIX, path), GREETING, False),
]
os.chmod(path, 0o777)
threads = [threading.Thread(target=serve, args=service) for service in services]
for thread in threads:
    thread.start()
