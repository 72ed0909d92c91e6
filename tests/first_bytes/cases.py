# SPDX-License-Identifier: MIT
# Byte strings that a client may send first: bytes that servers skip, hellos and requests in every odd shape. The same strings each
# time.
import itertools
import os
import random
import struct

# The name of the connection, and another one.
GOOD, EVIL = os.environ.get("GOOD", "good.test").encode(), b"evil.test"

# ---- HTTP --------------------------------------------------------------------------------------------------------------

PROXY_1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 1000 80\r\n"
PROXY_2 = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc0\0\x02\x02\x03\xe8\0\x50"
PREFIXES = [b""] + [bytes([byte]) for byte in [*range(0x21), 0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xAD, 0xFE, 0xFF]] + [
    b"\r\n", b"\r\n\r\n", b"\n\n", b"\r\r", b"\r\n\0", b"\0\r\n", b"\0\0\0\0", b"  ", b" \t", b"\x01\x02\x03", b"\x05\x01\0", b"\x1c\x85\xa0",
    b"\xef\xbb\xbf", b"\xff\xfe", PROXY_1, PROXY_2, b"PROXY UNKNOWN\r\n", b"proxy tcp4 192.0.2.1 192.0.2.2 1 2\r\n", b"\r\n" + PROXY_1,
    b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", b"\0\0\0\x08\x04\xd2\x16\x2f", b"SSH-2.0-x\r\n", b"SSH-2.0-x ", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03", b"\x16\x03\x01\0\x01", b"\x16\x02\0", b"\x15\x03\x01\0\x02\x01\0", b"\x80\x2e\x01\x03\x01", b"*1\r\n", b"{}", b"{} ", b"x\r\n", b"0033git-upload-pack /a.git\0host=good.test\0", b"001agit-upload-pack /a",
    b"\0" * 20000, b"\r\n" * 9000]
METHODS = [b"GET", b"get", b"POST", b"HEAD", b"OPTIONS", b"M-SEARCH", b"SOURCE", b"PRI", b"PROXY", b"CONNECT", b"G!T", b"SSH-2.0-x", b"{}", b"\x01", b"G\x01T",
           b"G\0T", b"'\"", b"A" * 100, b""]
BLANKS = [b" ", b"  ", b"\t", b"\v", b"\f", b"\r", b"\x1c", b"\x1f", b"\x85", b"\xa0", b"\0", b" \t "]
TARGETS = [b"/", b"*", b"//evil.test/", b"http://evil.test/", b"HTTP://evil.test/", b"http://good.test/", b"http://good.test@evil.test/",
           b"http://evil.test@good.test/", b"xyz://evil.test/", b"https://evil.test/", b"http:evil.test", b"http:///evil.test", b"evil.test:80", b"evil.test",
           b"\\\\evil.test\\", b"/x y", b"/\0", b"/\xff", b"/?http://evil.test/", b"/" + b"a" * 20000, b""]
VERSIONS = [b"HTTP/1.1", b"HTTP/1.0", b"http/1.1", b"HtTp/1.1", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.2", b"HTTP/1.10", b"HTTP/01.1", b"HTTP/1", b"HTTP/",
            b"HTTP/1.1x", b"HTTP /1.1", b"RTSP/1.0", b"ICE/1.0", b"SIP/2.0", b""]
ENDS = [b"\r\n", b"\n", b"\r", b"\r\r\n", b"\n\r", b"\0\r\n", b" \r\n", b"\t\n", b"\x0b\r\n", b"\x85"]
FIELDS = [b"Host: evil.test", b"HOST:evil.test", b"Host:\tevil.test", b"Host: evil.test:80", b"Host: evil.test.", b"Host : evil.test", b" Host: evil.test",
          b"\tHost: evil.test", b"Host\t: evil.test", b"Host\0: evil.test", b"\0Host: evil.test", b"Host: good.test\0evil.test", b"Host: good.test@evil.test",
          b"Host: good.test, evil.test", b"Host: good.test evil.test", b"Host:\x0bevil.test", b"Host: good.test\r\n .evil.test", b"Host:\r\n evil.test",
          b"Host:\r\n\tevil.test", b"X: y\rHost: evil.test", b"X: y\nHost: evil.test", b"X: y\x85Host: evil.test", b"X: y\x0bHost: evil.test",
          b"X: y\x1cHost: evil.test", b"X: y\0\nHost: evil.test", b"Host: [::1]", b"Host:", b"Host: good.test/evil.test", b"Host: good.test#evil.test",
          b"Host: good.test?evil.test", b"Host: good.test%00evil.test", b"Host: evil.test:80:80", b"X-Forwarded-Host: evil.test", b"Ho\x00st: evil.test",
          b"Host;: evil.test", b":authority: evil.test", b"Host\xa0: evil.test", b"Host\x85: evil.test", b"\xa0Host: evil.test"]
OWN = b"Host: good.test\r\n"
LATER = b"GET /later HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"
# Headers that may make a server see the end of a first request at another position.
FRAMINGS = [
    b"", b"Content-Length: 0\r\n", b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 0, 200\r\n",
    b"Content-Length: 0\r\nContent-Length: 87\r\n", b"Content-Length: 87\r\nContent-Length: 0\r\n", b"Content-Length: +0\r\n", b"Content-Length: 0x57\r\n",
    b"Content-Length : 87\r\n", b"Transfer-Encoding: xchunked\r\n", b"Transfer-Encoding: chunked, identity\r\n", b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding:\r\n chunked\r\n", b"Transfer-Encoding: \x0bchunked\r\n", b"Connection: close\r\n", b"Connection: Host\r\n",
    b"Expect: 100-continue\r\nContent-Length: 87\r\n", b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    b"Upgrade: TLS/1.0\r\nConnection: Upgrade\r\n"]
# HTTP/2: a request for evil.test, without Huffman codes.
H2_HEADERS = b"\x82\x86\x84\x41" + bytes([len(EVIL)]) + EVIL
H2 = b"\0\0\0\x04\0\0\0\0\0" + struct.pack(">I", len(H2_HEADERS))[1:] + b"\x01\x05\0\0\0\x01" + H2_HEADERS
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def request(method=b"GET", blank=b" ", target=b"/", version=b"HTTP/1.1", end=b"\r\n", field=b"Host: evil.test"):
    line = method + blank + target + (blank + version if version else b"")
    return line + end + (field + end if field is not None else b"") + b"Connection: close" + end + end


def http_strings():
    strings = [request(field=b"Host: good.test"), request()]
    for prefix in PREFIXES:
        strings += [prefix + request(), prefix + request(version=b"HTTP/1.0"), prefix + request(target=b"http://evil.test/", version=b"")]
    for key, values in {"method": METHODS, "blank": BLANKS, "target": TARGETS, "version": VERSIONS, "end": ENDS, "field": FIELDS}.items():
        for value in values:
            strings += [request(**{key: value}), request(**{key: value, "version": b""} if key != "version" else {key: value, "method": b"POST"})]
    for field in FIELDS:
        strings += [request(field=OWN + field), request(field=field + b"\r\n" + OWN.strip()), request(field=field, version=b"HTTP/1.0")]
    for target, host in itertools.product(TARGETS, (GOOD, EVIL)):
        strings.append(request(target=target, field=b"Host: " + host))
    for framing, body in itertools.product(FRAMINGS, (b"", b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"5;x\ny\r\nhello\r\n0\r\n\r\n")):
        strings.append(b"POST / HTTP/1.1\r\n" + OWN + framing + b"\r\n" + body + LATER)
    strings += [PREFACE + H2, request(field=b"Host: good.test\r\n" + FRAMINGS[-2].strip()) + PREFACE + H2, b"\r\n" + PREFACE + H2,
                b"CONNECT good.test:80 HTTP/1.1\r\n" + OWN + b"\r\n" + LATER, b"GET / HTTP/1.0\r\n\r\n" + LATER, b"GET /\r\n" + LATER,
                b"GET http://evil.test/ HTTP/1.1", b"GET http://evil.test/"]
    chance = random.Random(20)
    for _ in range(600):
        strings.append(chance.choice(PREFIXES[:60]) + request(chance.choice(METHODS), chance.choice(BLANKS), chance.choice(TARGETS), chance.choice(VERSIONS),
                                                             chance.choice(ENDS[:4]), chance.choice(FIELDS)))
    return list(dict.fromkeys(strings))


# ---- TLS ---------------------------------------------------------------------------------------------------------------

SUITES = struct.pack(">11H", 0x1301, 0xC02F, 0xC030, 0xC02B, 0xC013, 0xC014, 0x009C, 0x009D, 0x002F, 0x0035, 0x000A)


def extension(kind, content):
    return struct.pack(">HH", kind, len(content)) + content


def names(*entries, kind=0):
    listed = b"".join(struct.pack(">BH", kind, len(name)) + name for name in entries)
    return extension(0, struct.pack(">H", len(listed)) + listed)


OTHERS = (extension(11, b"\x01\0")
          + extension(13, b"\0\x12\x04\x03\x08\x04\x04\x01\x05\x03\x08\x05\x05\x01\x08\x06\x06\x01\x02\x01"))
USUAL = extension(10, b"\0\x06\0\x1d\0\x17\0\x18") + OTHERS
# TLS 1.3 with a key share that the server does not accept, so that it sends a HelloRetryRequest; then the share that it accepts.
MODERN = OTHERS + extension(43, b"\x04\x03\x04\x03\x03") + extension(10, b"\0\x04\0\x1d\0\x18")
SHARES = {"first": extension(51, b"\0\x24\0\x1d\0\x20" + b"\x09" * 32),
          # The generator of P-384 is a valid point of the curve.
          "second": extension(51, struct.pack(">HHH", 101, 0x18, 97) + bytes.fromhex(
              "04aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
              "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"))}


def hello(name=EVIL, extensions=USUAL, version=b"\x03\x03", tail=b"", server_names=None):
    listed = (server_names if server_names is not None else names(name) if name else b"") + extensions
    body = version + b"\x42" * 32 + b"\0" + struct.pack(">H", len(SUITES)) + SUITES + b"\x01\0"
    body += struct.pack(">H", len(listed)) + listed + tail
    return b"\x01" + struct.pack(">I", len(body))[1:] + body


def record(content, kind=22, version=0x0301):
    return struct.pack(">BHH", kind, version, len(content)) + content


def in_records(message, size, between=b""):
    return between.join(record(message[at:at + size]) for at in range(0, len(message), size))


def tls_strings():
    evil, good = hello(EVIL), hello(GOOD)
    strings = [record(good), record(evil), record(hello(None))]
    contents = [b"", b"\x01", b"\x01\0", b"\x01\x5a", b"\x01\x64", b"\x02\x28", b"\x01\0\x01\0"]
    for kind, version, content in itertools.product(range(19, 26), (0x0300, 0x0301, 0x0303, 0x0304, 0x0000, 0x0100, 0x0200, 0x0F00, 0x1000, 0xFFFF), contents):
        strings.append(record(content, kind, version) + record(evil))
    for version in (0x0000, 0x0100, 0x0141, 0x0200, 0x0300, 0x0302, 0x0303, 0x0304, 0x0305, 0x03FF, 0x0400, 0x0FFF, 0x1000, 0x0A0A, 0x2020, 0x7F1C, 0xFFFF):
        strings += [record(evil, version=version), record(good, version=version), in_records(evil, 50).replace(b"\x16\x03\x01", b"\x16" + version.to_bytes(2, "big"))]
    for size in (1, 3, 4, 5, 40, 100):
        for between in (b"", record(b"\x01\0", 21), record(b"\x01", 20), record(b""), record(b"x", 23)):
            strings.append(in_records(evil, size, between))
    warning = record(b"\x01\x5a", 21)
    strings += [warning * count + record(evil) for count in (2, 3, 4, 5, 16)]
    strings += [prefix + record(evil) for prefix in PREFIXES]
    twice = names(GOOD) + names(EVIL), names(EVIL) + names(GOOD), names(GOOD, EVIL), names(EVIL, GOOD), names(GOOD, kind=1), names(EVIL, kind=1)
    odd = [names(text) for text in (b"EVIL.test", b"evil.test.", b"good.test\0evil.test", b"evil.test\0", b"", b".evil.test", b"good.test evil.test", b"good.test,evil.test")]
    odd += [extension(0, b""), extension(0, b"\0\0"), extension(0, names(EVIL)[4:] + b"\0"), extension(0, b"\0\x0c\0\0\x09evil.test\0\0\x09good.test")]
    strings += [record(hello(server_names=listed)) for listed in (*twice, *odd)]
    strings += [record(hello(tail=b"\0\0")), record(evil + good), record(good + evil), record(evil[:-1]), record(evil + b"\0"), record(good) + record(evil),
                record(hello(version=b"\x03\x00")), record(hello(version=b"\x03\x01")), record(hello(version=b"\x02\0")), record(hello(version=b"\x7f\x1c"))]
    for version in (b"\x03\x01", b"\x03\x03", b"\0\x02"):
        ciphers = b"".join(b"\0" + SUITES[at:at + 2] for at in range(0, len(SUITES), 2))
        body = b"\x01" + version + struct.pack(">HHH", len(ciphers), 0, 16) + ciphers + b"\x42" * 16
        strings.append(struct.pack(">H", 0x8000 | len(body)) + body)
    strings += [PROXY_1 + record(evil), PROXY_2 + record(evil)]
    # A second hello, sent at once: a server that requested one reads it immediately.
    first = record(hello(GOOD, MODERN + SHARES["first"]))
    for name, between in itertools.product((GOOD, EVIL, None), (b"", record(b"\x01", 20, 0x0303), record(b"early", 23, 0x0303))):
        strings.append(first + between + record(hello(name, MODERN + SHARES["second"]), version=0x0303))
    return list(dict.fromkeys(strings))
