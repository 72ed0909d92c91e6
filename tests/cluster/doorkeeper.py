# SPDX-License-Identifier: MIT
# doorkeeper.py SOCKET CONTROL: lets ordinary users run CONTROL, as root, with words of small letters and digits. One connection is
# one call; the answer is its output and, in the last line, its exit status.
import os
import re
import socket
import subprocess
import sys
import tempfile

path, control = sys.argv[1:]


def answer(line):
    if not re.fullmatch(r"[a-z0-9-]+( [a-z0-9-]+)?\n", line):
        return b"control: not a word\n2\n"
    # A file, not a pipe: a process that CONTROL leaves running must not keep the answer open.
    with tempfile.TemporaryFile() as output:
        status = subprocess.run([control, *line.split()], stdout=output, stderr=output).returncode
        output.seek(0)
        return output.read() + b"%d\n" % (status if status >= 0 else 128 - status)


door = socket.socket(socket.AF_UNIX)
door.bind(path)
door.listen(8)
os.chmod(path, 0o666)
while True:
    visitor = door.accept()[0]
    with visitor:
        try:
            visitor.sendall(answer(visitor.makefile().readline()))
        except (OSError, UnicodeError) as error:
            print(f"doorkeeper.py: {error}", file=sys.stderr)
