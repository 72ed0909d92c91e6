# SPDX-License-Identifier: MIT
# traffic.py SECONDS: the client in the filtered jail of the soak. For each line on standard input it does one round of every kind of
# traffic that a gateway handles, spread over SECONDS, and prints one line: the number of actions, and those that failed.
#
# Names come from a fixed set: a name keeps its synthetic address until the session ends, so new names cost memory by design.
import socket
import ssl
import struct
import sys
import time

PROXY, SOCKS = ("198.18.0.1", 3128), ("198.18.0.1", 1080)
TRUSTED = ssl.create_default_context(cafile="authority.crt")
REQUEST = b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
NAMES = 200


def dial(host, port):
    return socket.create_connection((host, port), timeout=20)


def all_of(connection):
    said = b""
    while data := connection.recv(65536):
        said += data
    return said


def get(connection, host="good.example", path="/quiet"):
    with connection:
        connection.sendall(REQUEST % (path.encode(), host.encode()))
        return all_of(connection)


# ---- Allowed traffic ---------------------------------------------------------------------------------------------------

def by_name():
    return get(dial("good.example", 80)).endswith(b"quiet\n")


def by_tls():
    return get(TRUSTED.wrap_socket(dial("good.example", 443), server_hostname="good.example")).startswith(b"HTTP/1.1 200")


def by_connect(target=b"good.example:8080", answer=b" 200 "):
    connection = dial(*PROXY)
    connection.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (target, target))
    said = connection.recv(4096)
    if answer == b" 200 " and answer in said:
        return get(connection).endswith(b"quiet\n")
    connection.close()
    return answer in said


def by_absolute_form():
    return get(dial(*PROXY), path="http://good.example/quiet").endswith(b"quiet\n")


def by_socks(host=b"good.example", code=0):
    connection = dial(*SOCKS)
    connection.sendall(b"\5\1\0")
    connection.recv(2)
    connection.sendall(b"\5\1\0\3" + bytes([len(host)]) + host + struct.pack(">H", 8080))
    said = connection.recv(64)
    if said[1:2] == b"\0" == bytes([code]):
        return get(connection).endswith(b"quiet\n")
    connection.close()
    return len(said) > 1 and (said[1] == 0) == (code == 0)


def large():
    return len(get(dial("good.example", 80), path="/random")) > 3000000


def half_close():
    with dial("echo.example", 9001) as connection:
        connection.sendall(bytes(100000))
        connection.shutdown(socket.SHUT_WR)
        return all_of(connection).startswith(b"100000 ")


def crowd():
    connections = [dial("good.example", 8080) for _ in range(30)]
    return all(get(connection).endswith(b"quiet\n") for connection in connections)


def many_names():
    return len({socket.getaddrinfo(f"n{number}.many.example", 80, socket.AF_INET)[0][4] for number in range(NAMES)}) == NAMES


# ---- Refused traffic ---------------------------------------------------------------------------------------------------

def refused(act, *arguments):
    try:
        act(*arguments).close()
        return False
    except OSError:
        return True


def denied_name():
    return refused(dial, "evil.example", 80)


def denied_connect():
    return by_connect(b"evil.example:443", b" 403 ")


def denied_socks():
    return by_socks(b"evil.example", 2)


# The handshake succeeds, because the gateway must accept a connection before it can check it.
def denied_address():
    return b"good.example here" not in get(dial("198.51.100.7", 80), path="/")


def denied_host():
    return b" 403 " in get(dial("good.example", 80), host="evil.example")


def denied_server_name():
    plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    plain.check_hostname, plain.verify_mode = False, ssl.CERT_NONE
    return refused(lambda: plain.wrap_socket(dial("good.example", 443), server_hostname="evil.example"))


def denied_mail():
    with dial("mail.example", 25) as connection:
        return connection.recv(100).startswith(b"554")


def denied_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.settimeout(5)
        door.connect(("203.0.113.10", 9))
        door.send(b"x")
        return refused(lambda: door.recv(10))


# ---- Broken traffic ----------------------------------------------------------------------------------------------------

def reset_after(sent, address):
    connection = dial(*address)
    connection.sendall(sent)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    return True


def broken():
    for address in (("good.example", 80), ("good.example", 443), PROXY, SOCKS):
        for sent in (b"", b"G", b"GET / HTTP/1.1\r\nHost: good", b"\x16\3\1\2\0\1", b"\5\2\0", b"\5\1\0\5\1\0\3\x40", b"\0" * 4000):
            reset_after(sent, address)
    return True


def reset_by_server():
    with dial("echo.example", 9003) as connection:
        connection.sendall(b"x")
        try:
            return connection.recv(10) == b""
        except ConnectionResetError:
            return True


def broken_question():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        for question in (b"", b"\0", b"\xff" * 30, bytes(12), b"\1\2\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1"):
            door.sendto(question, (RESOLVER, 53))
    return True


# ---- Long connections ----------------------------------------------------------------------------------------------------

# Four connections, of which one is replaced each round: so one lasts four rounds.
class Long:
    def __init__(self):
        self.connections = []

    def one_round(self):
        if len(self.connections) == 4:
            self.connections.pop(0).close()
        while len(self.connections) < 4:
            self.connections.append(dial("echo.example", 7))
        return True

    def speak(self):
        for connection in self.connections:
            connection.sendall(b"still there\n")
            if connection.recv(100) != b"still there\n":
                return False
        return True


RESOLVER = next(line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver"))
LONG = Long()
ACTS = [LONG.one_round, many_names, by_name, by_tls, denied_name, by_connect, denied_connect, by_absolute_form, by_socks, denied_socks,
        LONG.speak, large, half_close, denied_address, denied_host, denied_server_name, denied_mail, denied_datagram, broken, reset_by_server,
        broken_question, crowd, by_name, by_tls, LONG.speak]


def go_wrong(act):
    try:
        return None if act() else act.__name__
    except Exception as error:  # Any error: the round continues and reports it.
        return f"{act.__name__} ({error})"


def one_round(seconds):
    wrong = []
    for act in ACTS:
        until = time.monotonic() + seconds / len(ACTS)
        if said := go_wrong(act):
            wrong.append(said.replace("\n", " "))
        time.sleep(max(0, until - time.monotonic()))
    return wrong


def main():
    for line in sys.stdin:
        wrong = one_round(float(sys.argv[1]))
        print(len(ACTS), "; ".join(wrong), flush=True)


main()
