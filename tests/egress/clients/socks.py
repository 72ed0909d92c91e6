# SPDX-License-Identifier: MIT
# socks.py COMMAND KIND TARGET PORT [TEXT]: one SOCKS5 request to the gateway; prints the reply's code and the data after it.
#   COMMAND connect|bind|udp    KIND name|v4|v6    TARGET with escapes such as \x00
import socket
import struct
import sys

command, kind, target, port = sys.argv[1:5]
text = sys.argv[5].encode().decode("unicode_escape").encode("latin-1") if len(sys.argv) > 5 else b""
code = {"connect": 1, "bind": 2, "udp": 3}[command]
if kind == "name":
    name = target.encode().decode("unicode_escape").encode("latin-1")
    address = b"\x03" + bytes([len(name)]) + name
elif kind == "v4":
    address = b"\x01" + socket.inet_pton(socket.AF_INET, target)
else:
    address = b"\x04" + socket.inet_pton(socket.AF_INET6, target)

connection = socket.create_connection(("198.18.0.1", 1080), timeout=5)
connection.sendall(b"\x05\x01\x00")
greeting = connection.recv(2)
if greeting != b"\x05\x00":
    sys.exit(f"greeting {greeting!r}")
connection.sendall(b"\x05" + bytes([code]) + b"\x00" + address + struct.pack(">H", int(port)))
reply = connection.recv(262)
print("reply", reply[1] if len(reply) > 1 else "none")
if len(reply) > 1 and reply[1] == 0:
    connection.sendall(text)
    connection.shutdown(socket.SHUT_WR)
    try:
        while data := connection.recv(65536):
            print(data.decode("latin-1"))
    except OSError as error:
        print(error)
else:
    sys.exit(1)
