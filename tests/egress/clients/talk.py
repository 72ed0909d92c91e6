# SPDX-License-Identifier: MIT
# talk.py HOST PORT [--pieces N] [--pause SECONDS] [--then TEXT] [--half-close] [--wait SECONDS] TEXT
# Sends the bytes of TEXT (with escapes such as \r\n or \x00), prints the answer, how the connection ended and after how many
# milliseconds: "closed", "reset", or "open" if it did not end within the wait. It sends --then after the first answer.
import argparse
import socket
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("host")
parser.add_argument("port", type=int)
parser.add_argument("--pieces", type=int, default=0)
parser.add_argument("--pause", type=float, default=0.01)
parser.add_argument("--then", default="")
parser.add_argument("--half-close", action="store_true")
parser.add_argument("--wait", type=float, default=3)
parser.add_argument("text", nargs="?", default="")
options = parser.parse_intermixed_args()


def to_bytes(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


def send(connection, data):
    size = options.pieces or len(data) or 1
    for at in range(0, len(data), size):
        connection.sendall(data[at:at + size])
        if options.pieces:
            time.sleep(options.pause)


started = time.monotonic()
end = "open"
received = b""
try:
    connection = socket.create_connection((options.host, options.port), timeout=options.wait)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    send(connection, to_bytes(options.text))
    if options.half_close:
        connection.shutdown(socket.SHUT_WR)
    if options.then:
        received += connection.recv(65536)
        send(connection, to_bytes(options.then))
    while data := connection.recv(65536):
        received += data
    end = "closed"
except socket.timeout:
    pass
except ConnectionResetError:
    end = "reset"
except OSError as error:
    print(f"error: {error}")
    sys.exit(1)
print(received.decode("latin-1").replace("\0", "\\0"))
print(f"{end} after {(time.monotonic() - started) * 1000:.0f} ms")
