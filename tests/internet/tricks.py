# SPDX-License-Identifier: MIT
# tricks.py ADDRESS LOG: a name server whose answers are attacks. It logs every question as a line.
#   NAME.rebind.example              the first answer is a public address, every later one a private one
#   to-10-1-2-3.trick.example        that address; several with -and- in between
#   six-20010db8….trick.example      that IPv6 address, as 32 hex digits
#   alias-evil.trick.example         an alias (CNAME) of evil.example, with its address;  alias-loop…  an alias of itself
#   other-owner.trick.example        an address that belongs to another name
#   many-10-1-2-3.trick.example      sixty records of that address, and a public one at the end
#   fail.trick.example               a failure;  silent.trick.example  no answer at all
#   NAME.leak.example                a public address: the tests read the log
import ipaddress
import socket
import struct
import sys

PUBLIC, PRIVATE = "203.0.113.10", "10.1.2.3"
A, AAAA = 1, 28
asked = {}


def addresses_of(name, kind):
    label = name.split(".")[0]
    if name.endswith(".rebind.example"):
        if kind != A:
            return []
        asked[name] = asked.get(name, 0) + 1
        return [PUBLIC if asked[name] == 1 else PRIVATE]
    if label.startswith("many-"):
        return [label[5:].replace("-", ".")] * 60 + [PUBLIC] if kind == A else []
    if label.startswith("to-"):
        return [part.replace("-", ".") for part in label[3:].split("-and-")] if kind == A else []
    if label.startswith("six-"):
        return [str(ipaddress.IPv6Address(int(label[4:], 16)))] if kind == AAAA else []
    return [PUBLIC] if kind == A else []


def parse(message):
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    return ".".join(labels).lower(), struct.unpack_from(">H", message, at + 1)[0], at + 5


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(owner, kind, data):
    return owner + struct.pack(">HHIH", kind, 1, 0, len(data)) + data


def trick_records(message, name, kind, end):
    evil, asked_name = wire("evil.example"), b"\xc0\x0c"
    address = ipaddress.ip_address("203.0.113.66").packed
    records = []
    if name.startswith("alias-loop"):
        records = [record(asked_name, 5, wire(name))]
    elif kind == A:
        records = [record(evil, A, address)]
        if name.startswith("alias-evil"):
            records.insert(0, record(asked_name, 5, evil))
    return message[:2] + struct.pack(">HHHHH", 0x8580, 1, len(records), 0, 0) + message[12:end] + b"".join(records)


def answer(message, log):
    name, kind, end = parse(message)
    print(kind, name, file=log)
    if name == "silent.trick.example":
        return None
    code = 2 if name == "fail.trick.example" else 0
    if name.startswith(("alias-", "other-owner.")):
        return trick_records(message, name, kind, end)
    found = [] if code else [ipaddress.ip_address(text) for text in addresses_of(name, kind)]
    records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(each.packed)) + each.packed for each in found)
    return message[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, len(found), 0, 0) + message[12:end] + records


def main():
    log = open(sys.argv[2], "a", buffering=1)
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((sys.argv[1], 53))
    while True:
        message, peer = server.recvfrom(4096)
        try:
            reply = answer(message, log)
        except (IndexError, ValueError, struct.error):
            continue
        if reply:
            server.sendto(reply, peer)


main()
