# SPDX-License-Identifier: MIT
# peers_probe.py SOCKET: a dozen attempts from inside a tool, for bench/peers. Prints "probe NAME open" for a success, "held" for a
# failure. Writes are judged outside. For HTTP it uses the proxy in the environment, as clients do.
import contextlib
import fcntl
import glob
import os
import re
import socket
import sys
import termios

project = os.getcwd()
home = project.removesuffix("/code/app")


def answer(name, is_open):
    print("probe", name, "open" if is_open else "held", flush=True)


def reads(path, text):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return text.encode() in file.readline()
    return False


def receive(connection, request=b""):
    connection.sendall(request)
    received = b""
    while part := connection.recv(4096):
        received += part
    return received


# Through the tool's proxy, or directly.
def reaches_web(host, port):
    proxy = re.match(r"http://(?:[^@/]*@)?([^/:]+):(\d+)", os.environ.get("http_proxy") or os.environ.get("HTTP_PROXY") or "")
    via, path = ((proxy[1], int(proxy[2])), f"http://{host}:{port}/") if proxy else ((host, port), "/")
    with contextlib.suppress(OSError), socket.create_connection(via, 3) as server:
        return re.search(rb" 200 OK.*here$", receive(server, f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode()), re.DOTALL)
    return False


def reaches(address):
    with contextlib.suppress(OSError), socket.create_connection(address, 3) as server:
        return receive(server).endswith(b"here")
    return False


def reaches_socket(path):
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        return receive(server).endswith(b"here")
    return False


# Types a letter into the terminal from which it was started.
def types():
    with contextlib.suppress(OSError), open("/dev/tty", "rb+", buffering=0) as terminal:
        fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
        return True
    return False


def write(path, text):
    with contextlib.suppress(OSError), open(path, "w") as file:
        file.write(text)


answer("read-key", reads(f"{home}/.ssh/id_ed25519", "the key"))
answer("read-other", reads(f"{home}/code/other/secret", "the other project"))
answer("read-env-file", reads(f"{project}/.env", "the token"))
answer("environment", os.environ.get("AWS_SECRET_ACCESS_KEY") == "the-secret")

outside = [path.split("/")[2] for path in glob.glob("/proc/[0-9]*/cmdline") if reads(path, "sleep\00098765")]
answer("see-process", outside)
# Needs the same permission as ptrace.
answer("trace-process", outside and reads(f"/proc/{outside[-1]}/environ", "of-a-process-outside"))

answer("web-unnamed", reaches_web("unnamed.example", 80))
answer("web-paste", reaches_web("pastebin.com", 80))
answer("web-metadata", reaches_web("169.254.169.254", 80))
answer("web-loopback", reaches_web("127.0.0.1", 8080))
answer("mail-port", reaches(("mail.example", 25)))
answer("unix-socket", reaches_socket(sys.argv[1]))
answer("type", types())

write(f"{project}/.git/hooks/pre-commit", "#!/bin/sh\n")
write(f"{home}/planted", "planted\n")
