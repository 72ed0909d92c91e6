# SPDX-License-Identifier: MIT
# listen.py PATH: a Unix socket that greets every client. A path that starts with @ is an abstract name.
# listen.py tcp: the same on a free port of the loopback; prints the port.
import contextlib
import os
import socket
import sys

path = sys.argv[1]
if path == "tcp":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + path[1:] if path.startswith("@") else path)
    listener.listen(16)
    if not path.startswith("@"):
        os.chmod(path, 0o777)
while True:
    client = listener.accept()[0]
    with client, contextlib.suppress(OSError):
        client.sendall(b"hello from outside\n")
