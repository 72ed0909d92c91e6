#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# filters.py FILTERS.CC PROGRAM: counts how many of the generator's system-call filters of each architecture are in the program.
# Each begins with its architecture's number, so a filter can't be part of another architecture's filter.
import pathlib
import re
import struct
import sys

text, program = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2]).read_bytes()
for architecture, block in re.findall(r"^#if defined\(__(\w+)__\)\n(.*?)^#endif", text, re.MULTILINE | re.DOTALL):
    filters = re.findall(r"kProgram\d+\[\] = \{(.*?)\}", block, re.DOTALL)
    words = [[int(word, 16) for word in re.findall("0x[0-9a-f]+", each)] for each in filters]
    found = sum(struct.pack(f"<{len(each)}Q", *each) in program for each in words)
    print(f"{architecture} {found} of {len(filters)}")
