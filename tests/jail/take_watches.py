# SPDX-License-Identifier: MIT
# take_watches.py MOST [WATCHES]: takes up to MOST inotify instances and up to WATCHES inotify watches (all that it can get), and prints both numbers. Then it
# creates the file `ready`, holds them until the file `look` exists, and prints .env as soon as it is empty.
import ctypes
import os
import sys
import tempfile
import time

IN_ATTRIB = 4
libc = ctypes.CDLL(None, use_errno=True)


def take_instances(most):
    instances = []
    while len(instances) < most:
        instance = libc.inotify_init1(0)
        if instance < 0:
            break
        instances.append(instance)
    return instances


def take_watches(instances, directory, most):
    count = 0
    while count < most:
        # A directory of its own for each round: every instance can watch it once.
        path = tempfile.mkdtemp(dir=directory).encode()
        for instance in instances:
            if libc.inotify_add_watch(instance, path, IN_ATTRIB) < 0:
                return count
            count += 1
    return count


# Thousands of directories are removed at the end: on a disk this takes ten times as long.
with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
    instances = take_instances(int(sys.argv[1]))
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 40
    print(len(instances), take_watches(instances, directory, most) if instances else 0, flush=True)
    open("ready", "w").close()
    while not os.path.exists("look"):
        time.sleep(0.02)
    tries = 0
    while os.path.exists(".env") and os.path.getsize(".env") > 0 and tries < 1000:
        tries += 1
        time.sleep(0.02)
    if os.path.exists(".env"):
        print("content:", open(".env").read())
