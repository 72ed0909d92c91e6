# SPDX-License-Identifier: MIT
# terminal.py PROGRAM ROUNDS: for bench/terminal. Plays a terminal for `cat` of 100 MB and for single keys, without the program, in a
# run, and through exec and attach; then measures `exec true`. Prints two tables, an empty line between them. The project is the current
# directory.
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import sys
import termios
import time

PROGRAM, ROUNDS = [sys.argv[1]], int(sys.argv[2])
SIZE = 100_000_000
LINE = b"The quick brown fox jumps over the lazy dog, and the terminal shows it.\n"


def on_terminal(words):
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(words[0], words)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return process, terminal


def read_until(terminal, mark):
    tail = b""
    while mark not in tail:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            sys.exit(f"the terminal ended before {mark}: {tail}")
        tail = tail[-200:] + part


def end(process, terminal):
    os.close(terminal)
    os.waitpid(process, 0)


# The command prints BEGIN, waits for a key, and prints the file and END.
TEXT = 'stty -echo; printf "BEG%s" IN; read key; cat "$1"; printf "EN%s" D; read key'
KEYS = 'stty raw -echo; printf "BEG%s" IN; exec cat'


def rate(terminal):
    read_until(terminal, b"BEGIN")
    began = time.monotonic()
    os.write(terminal, b"\r")
    read_until(terminal, b"END")
    return SIZE / 1e6 / (time.monotonic() - began)


def echo(terminal):
    read_until(terminal, b"BEGIN")
    times = []
    for _ in range(500):
        began = time.monotonic()
        os.write(terminal, b"x")
        read_until(terminal, b"x")
        times.append(1000 * (time.monotonic() - began))
    return statistics.median(times)


def detached(script):
    words = [*PROGRAM, "--quiet", "--detach", "--", "sh", "-c", script, "sh", text]
    session = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True).stdout.strip()
    return session, [*PROGRAM, "attach", session]


def measure(way, script, what):
    session = None
    words = ["sh", "-c", script, "sh", text]
    if way == "a run":
        words = [*PROGRAM, "--quiet", "--", *words]
    elif way == "exec":
        words = [*PROGRAM, "exec", main, "--", *words]
    elif way == "attach":
        session, words = detached(script)
    process, terminal = on_terminal(words)
    result = what(terminal)
    if session:
        subprocess.run([*PROGRAM, "stop", "--now", session], capture_output=True, check=True)
    end(process, terminal)
    return result


text = os.path.join(os.getcwd(), "text")
with open(text, "wb") as file:
    file.write((LINE * (SIZE // len(LINE) + 1))[:SIZE])
main = subprocess.run([*PROGRAM, "--quiet", "--detach", "--", "sleep", "9999"], stdin=subprocess.DEVNULL, capture_output=True, check=True,
                      text=True).stdout.strip()
ways = ["no jail", "a run", "exec", "attach"]
rates, echoes = {way: [] for way in ways}, {way: [] for way in ways}
for _ in range(ROUNDS):
    for way in ways:
        rates[way].append(measure(way, TEXT, rate))
        echoes[way].append(measure(way, KEYS, echo))
print("terminal\tMB/s\tratio\techo")
for way in ways:
    ratio = statistics.median(rates[way]) / statistics.median(rates["a run"])
    print(f"{way}\t{statistics.median(rates[way]):.0f}\t{ratio:.2f}\t{statistics.median(echoes[way]):.3f}")
print()


def milliseconds(words):
    times = []
    for _ in range(200):
        began = time.monotonic()
        subprocess.run(words, stdin=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.monotonic() - began))
    return statistics.median(times)


print("way\tmedian")
print(f"exec\t{milliseconds([*PROGRAM, 'exec', main, '--', 'true']):.2f}")
print(f"a run\t{milliseconds([*PROGRAM, '--quiet', '--', 'true']):.2f}")
subprocess.run([*PROGRAM, "stop", "--now", main], capture_output=True, check=True)
os.unlink(text)
