# SPDX-License-Identifier: MIT
# compare.py JUDGE FOLDER: sends the bytes that the gateway passes, of many byte strings, to real servers. None of the servers may
# see another name than good.test, the name of the connection. As a control it also sends the strings unchanged: each server must
# then see the other name at least once. FOLDER holds go-server and Servers.class.
import asyncio
import re
import subprocess
import sys

import cases
import servers

AT_ONCE = 48
PATIENCE = 120  # seconds; a server that answers takes milliseconds
# In TLS, keys and random bytes surround the names and contain "[[" now and then: there a name has only printable characters.
MARKS = {"HTTP": re.compile(rb"\[\[([^\]]*)\]\]"), "TLS": re.compile(rb"\[\[([!-Z^-~]*)\]\]")}
EXPECTED = {"", "default", "good.test"}


def judged(program, folder, strings):
    with open(f"{folder}/strings", "w") as file:
        file.writelines(string.hex() + "\n" for string in strings)
    lines = subprocess.run([program, f"{folder}/strings"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == len(strings)
    passed, refused = {"answer": {}, "retry": {}}, 0
    for string, line in zip(strings, lines):
        for word in line.split():
            verdict, _, sent = word.partition("=")
            server, _, verdict = verdict.partition(":")
            refused += verdict == "refused"
            # A refused connection ends with a reset, within a line of the protocol.
            if verdict != "refused" and sent:
                passed[server].setdefault(bytes.fromhex(sent), string)
    return passed, refused


async def names_seen(mark, port, string):
    answer = b""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(string)
        try:
            writer.write_eof()
            while chunk := await asyncio.wait_for(reader.read(65536), PATIENCE):
                answer += chunk
        finally:
            writer.transport.abort()
    except (OSError, asyncio.TimeoutError):
        pass
    names = {name.decode("latin-1").lower() for name in mark.findall(answer)}
    return {name.removesuffix(":80").removesuffix(".") for name in names}


# `strings_for` returns the strings for a server.
async def ask_all(mark, ports, strings_for):
    turns, seen = asyncio.Semaphore(AT_ONCE), []

    async def ask(name, port, string):
        async with turns:
            seen.append((name, string, await names_seen(mark, port, string)))

    await asyncio.gather(*(ask(name, port, string) for name, port in ports.items() for string in strings_for(name)))
    return seen


# One of the first strings in which the server sees another name without the gateway.
async def control(mark, port, strings):
    for at in range(0, len(strings), AT_ONCE):
        part = strings[at:at + AT_ONCE]
        for string, names in zip(part, await asyncio.gather(*(names_seen(mark, port, string) for string in part))):
            if not names <= EXPECTED:
                return string
    return None


def shown(string):
    text = repr(string)
    return text if len(text) < 160 else text[:120] + f"... ({len(string)} bytes)"


def compare(kind, ports, strings, program, folder):
    passed, refused = judged(program, folder, strings)
    print(f"{kind}: {len(strings)} strings, {refused} outcomes refused, {len(passed['answer'])} different ones go on, {len(ports)} servers")
    wrong = 0

    def let_through(name):
        return passed["retry" if "second hello" in name else "answer"]

    for name, string, names in asyncio.run(ask_all(MARKS[kind], ports, let_through)):
        if names <= EXPECTED:
            continue
        wrong += 1
        print(f"WRONG: {name} sees {sorted(names - EXPECTED)} in {shown(string)}, which is let through of {shown(let_through(name)[string])}")
    for name, port in ports.items():
        string = asyncio.run(control(MARKS[kind], port, strings))
        if string is None:
            wrong += 1
            print(f"WRONG: the control fails: {name} never sees another name")
        else:
            print(f"  {name}: sent as it is, another name is seen in {shown(string)}")
    return wrong


def main():
    program, folder = sys.argv[1], sys.argv[2]
    servers.make_certificates(folder)
    world = servers.Servers(folder)
    try:
        world.start()
        wrong = compare("HTTP", world.http, cases.http_strings(), program, folder)
        wrong += compare("TLS", world.tls, cases.tls_strings(), program, folder)
    finally:
        world.stop()
    raise SystemExit(wrong > 0)


main()
