#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# messages.py PAGE FOREIGN FOLDER...: every heading of PAGE that shows a message must match the program. The parts between … must be
# in the sources below the FOLDERs, where string literals over several lines are joined, or begin an entry of the list FOREIGN. Prints
# the parts that it does not find, and the number of messages.
import pathlib
import re
import sys

MARKS = " \t\n:;,\"'()[]="
SOURCES = {".cc", ".h", ".list", ".toml", ".txt"}
# The program builds a message from parts: what, why, what to do; and the name of a setting, a backend or a verb.
BETWEEN_PIECES = re.compile(
    r'[;:] |":"|\[|\b(?:network\.mode|limits\.\w+|sbatch|Landlock alone|cannot|ps(?= is for)|/etc/agent-sandbox/config\.toml)\b'
)
page, foreign_list, *folders = sys.argv[1:]


def read_file(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def read_sources():
    files = [path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.suffix in SOURCES and path.is_file()]
    # A literal may go over several lines.
    return re.sub(r'"\s*\n\s*"', "", "\n".join(map(read_file, files))).replace('\\"', '"')


def pieces_of(part):
    return [piece.strip(MARKS) for piece in BETWEEN_PIECES.split(part)]


text = read_sources()
foreign = [match[1] for match in re.finditer(r"^([^#\n].*?)  \S", read_file(foreign_list), re.MULTILINE)]
used, missing, count = set(), 0, 0
for heading in re.findall(r"^### .*?`(.+)`$", read_file(page), re.MULTILINE):
    if re.fullmatch(r"\.[a-z]+", heading):
        continue  # A path, not a message.
    count += 1
    # The page has … where the program inserts a number, a name or a value.
    parts = [part.strip(MARKS) for part in heading.removeprefix("agent-sandbox: ").split("…")]
    for part in parts:
        known = {each for each in foreign if each.rstrip(MARKS) in part} if len(part) >= 4 else set()
        used |= known
        for piece in pieces_of(part) if len(part) >= 4 and not known else []:
            if len(piece) >= 4 and piece not in text:
                print(f"### {heading}\n  is said by nobody: '{piece}'")
                missing += 1
    if max(map(len, parts)) < 8:
        print(f"### {heading}\n  has no words to look for")
        missing += 1
for each in foreign:
    if each not in used:
        print(f"{foreign_list}: no heading has '{each}'")
        missing += 1
print(count, "messages")
sys.exit(missing > 0 or count < 30)
