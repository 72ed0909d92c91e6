# SPDX-License-Identifier: MIT
# shuffle.py SEED COUNT DIRECTORY: renames, exchanges, links, removes and changes modes of entries below the directory, at random,
# and continues after every failure. The same seed does the same to the same tree.
import contextlib
import ctypes
import os
import random
import sys

seed, count, top = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
FRESH = ["aside", "vendor", "data2", "node_modules", "plain", "x.code-workspace", "build"]


def names():
    return sorted(os.path.join(where, name) for where, folders, files in os.walk(top) for name in folders + files)


def is_directory(path):
    return os.path.isdir(path) and not os.path.islink(path)


def remove(path):
    if is_directory(path):
        os.rmdir(path)
    elif random.randrange(4) == 0:
        os.unlink(path)


def shuffle(one, other):
    fresh = os.path.join(random.choice([top, os.path.dirname(other)]), random.choice(FRESH))
    act = random.randrange(9)
    if act < 3 and not os.path.exists(fresh):
        os.rename(one, fresh)
    elif act == 3:
        libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    elif act == 4:
        os.link(one, fresh)
    elif act == 5:
        os.symlink(random.choice([fresh, other, other]), fresh)
    elif act == 6:
        remove(one)
    elif act == 7:
        os.mkdir(fresh)
    elif act == 8 and is_directory(one):
        os.chmod(one, random.choice([0, 0o755]))


random.seed(seed)
for _ in range(count):
    found = names()
    if not found:
        break
    with contextlib.suppress(OSError):
        shuffle(random.choice(found), random.choice(found))
