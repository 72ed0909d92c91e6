# SPDX-License-Identifier: MIT
# ask.py SOCKET REQUEST: sends a request to the control socket of a session and prints the answer, or the error.
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    connection.connect(sys.argv[1])
except OSError as error:
    sys.exit(f"connect: {error.strerror}")
try:
    connection.send(sys.argv[2].encode())
    print(connection.recv(65536).decode() or sys.exit("no answer"))
except OSError:
    # The session closes the connection of another user, perhaps before the request is sent.
    sys.exit("no answer")
