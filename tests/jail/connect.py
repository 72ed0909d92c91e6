# SPDX-License-Identifier: MIT
# connect.py PATH: prints the greeting of listen.py, or the error. A path that starts with @ is an abstract name.
import socket
import sys

path = sys.argv[1]
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect("\0" + path[1:] if path.startswith("@") else path)
except OSError as error:
    sys.exit(f"connect: {error.strerror}")
print(connection.makefile().readline(), end="")
