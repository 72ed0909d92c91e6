# SPDX-License-Identifier: MIT
# trap_openssl.py PROGRAM COPY ARCHIVE...: copies a static program and replaces the code of every function of the archives by instructions
# that kill the process. Prints how many functions that were.
import re
import struct
import subprocess
import sys

program, copy, *archives = sys.argv[1:]


def symbols(*words):
    lines = subprocess.run(["nm", "--defined-only", *words], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in lines.splitlines() if re.search(r" [Tt] ", line)]


# Local functions of OpenSSL may have names of others: only global ones are taken.
names = {words[-1] for words in symbols(*archives) if words[-2] == "T"}
image = bytearray(open(program, "rb").read())
assert image[:5] == b"\x7fELF\x02", "a 64-bit ELF file is needed"
start, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
loads = []
for number in range(count):
    kind, _, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", image, start + number * size)
    if kind == 1:
        loads.append((address, offset, in_file))
machine = struct.unpack_from("<H", image, 18)[0]
trap = {62: b"\xcc", 183: b"\x00"}[machine]  # int3 of x86-64, udf of aarch64
replaced = 0
for words in symbols("--print-size", program):
    if len(words) < 4 or words[2] != "T" or words[3] not in names:
        continue
    address, length = int(words[0], 16), int(words[1], 16)
    for first, offset, in_file in loads:
        if first <= address and address + length <= first + in_file:
            at = offset + address - first
            image[at : at + length] = trap * length
            replaced += 1
with open(copy, "wb") as out:
    out.write(image)
print(replaced)
