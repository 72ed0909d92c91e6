# SPDX-License-Identifier: MIT
# bind.py PATH [TYPE]: binds a Unix socket, and prints "bound" or the error. A path that starts with @ is an abstract name.
import socket
import sys

path = sys.argv[1]
made = socket.socket(socket.AF_UNIX, int(sys.argv[2]) if len(sys.argv) > 2 else socket.SOCK_STREAM)
try:
    made.bind("\0" + path[1:] if path.startswith("@") else path)
except OSError as error:
    sys.exit(f"bind: {error.strerror}")
print("bound")
