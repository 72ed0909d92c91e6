# SPDX-License-Identifier: MIT
"""A client of the ssh-agent that sends what no honest client sends.

agent_client.py list | raw | change KIND | large | flood COUNT
agent_client.py record FILE COMMAND...    a relay before the agent; FILE gets the messages of each connection
agent_client.py unbound COMMAND...        a relay that keeps session-bind from the agent, like an old client
agent_client.py replay ATTACK FILE        the recorded login, changed by ATTACK
Prints "signed" or "refused" for a signature.
"""
import base64
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

BIND = b"session-bind@openssh.com"


def string(text):
    return struct.pack(">I", len(text)) + text


def strings(data, count):
    found = []
    for _ in range(count):
        size = struct.unpack(">I", data[:4])[0]
        found.append(data[4:4 + size])
        data = data[4 + size:]
    return found, data


def connect():
    agent = socket.socket(socket.AF_UNIX)
    agent.connect(os.environ["SSH_AUTH_SOCK"])
    return agent


def receive(connection):
    head = connection.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    return connection.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)


def ask(connection, message):
    try:
        connection.sendall(string(message))
        return receive(connection)
    except (BrokenPipeError, ConnectionResetError):
        return None


def tell(answer):
    print("signed" if answer and answer[0] == 14 else "refused")


def first_key():
    answer = ask(connect(), b"\x0b")
    (blob,), _ = strings(answer[5:], 1)
    return blob


def sign_request(key, data, flags=0):
    return b"\x0d" + string(key) + string(data) + struct.pack(">I", flags)


def show_list():
    answer = ask(connect(), b"\x0b")
    count = struct.unpack(">I", answer[1:5])[0]
    rest = answer[5:]
    for _ in range(count):
        (blob, comment), rest = strings(rest, 2)
        print(base64.b64encode(blob).decode(), comment.decode() or "no comment")


def relay(command, on_message):
    directory = tempfile.mkdtemp()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(directory + "/agent")
    listener.listen()
    number = 0

    def serve(client, index):
        agent = connect()
        while (message := receive(client)) is not None:
            answer = on_message(index, message)
            client.sendall(string(answer if answer else ask(agent, message) or b"\x05"))

    def accept():
        nonlocal number
        while True:
            client, _ = listener.accept()
            number += 1
            threading.Thread(target=serve, args=(client, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return subprocess.run(command, env=dict(os.environ, SSH_AUTH_SOCK=directory + "/agent")).returncode


def record(file, command):
    lines = []
    status = relay(command, lambda index, message: lines.append(f"{index} {message.hex()}"))
    with open(file, "w") as out:
        print("\n".join(lines), file=out)
    return status


def is_bind(message):
    return message[0] == 27 and strings(message[1:], 1)[0][0] == BIND


def recorded(file):
    messages = [bytes.fromhex(line.split()[1]) for line in open(file)]
    return next(m for m in messages if is_bind(m)), next(m for m in messages if m[0] == 13)


def rebuilt_bind(bind, **changes):
    (name, host, session, signature), flag = strings(bind[1:], 4)
    parts = {"host": host, "session": session, "signature": signature, "flag": flag, **changes}
    return b"\x1b" + string(name) + string(parts["host"]) + string(parts["session"]) + string(parts["signature"]) + parts["flag"]


def flipped(data, at):
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def replay(attack, file):
    bind, login = recorded(file)
    (key, data), _ = strings(login[1:], 2)
    (_, host, session, signature), _ = strings(bind[1:], 4)
    other = flipped(session, 5)
    binds, request = [bind], login
    if attack == "other-session":  # the login of another session than the bound one
        request = sign_request(key, data.replace(session, other))
    elif attack == "forged-session":  # a bind for a session that the host did not sign
        binds, request = [rebuilt_bind(bind, session=other)], sign_request(key, data.replace(session, other))
    elif attack == "forged-signature":
        binds = [rebuilt_bind(bind, signature=flipped(signature, -1))]
    elif attack == "own-host-key":  # a bind that the attacker signs with a key of its own, as far as it can
        binds = [rebuilt_bind(bind, host=flipped(host, -1))]
    elif attack == "no-bind":
        binds = []
    elif attack == "second-bind":
        binds = [bind, rebuilt_bind(bind, session=other)]
    elif attack == "wrong-user":
        request = sign_request(key, data.replace(string(b"remote"), string(b"world2"[:6])))
    elif attack == "more-bytes":
        request = sign_request(key, data + b"x")
    elif attack == "other-service":
        request = sign_request(key, data.replace(b"ssh-connection", b"ssh-connectioN"))
    elif attack == "truncated":
        request = sign_request(key, data[:-8])
    elif attack == "forwarding":
        binds = [rebuilt_bind(bind, flag=b"\x01")]
    agent = connect()
    for one in binds:
        ask(agent, one)
    tell(ask(agent, request))
    return 0


def flood(count):
    held = []
    for _ in range(count):
        held.append(connect())
        held[-1].sendall(b"\x00\x00\x00\x05")
    print("connected", len(held))


def main(words):
    if words[0] == "list":
        show_list()
    elif words[0] == "raw":
        tell(ask(connect(), sign_request(first_key(), bytes(32))))
    elif words[0] == "change":
        answer = ask(connect(), bytes([int(words[1])]))
        print("done" if answer == b"\x06" else "refused")
    elif words[0] == "large":
        agent = connect()
        agent.sendall(struct.pack(">I", 1 << 30) + bytes(100))
        print("closed" if agent.recv(1) == b"" else "open")
    elif words[0] == "flood":
        flood(int(words[1]))
    elif words[0] == "record":
        return record(words[1], words[2:])
    elif words[0] == "unbound":
        return relay(words[1:], lambda _, message: b"\x05" if is_bind(message) else None)
    elif words[0] == "replay":
        return replay(words[1], words[2])
    return 0


sys.exit(main(sys.argv[1:]))
