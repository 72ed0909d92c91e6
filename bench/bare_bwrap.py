# SPDX-License-Identifier: MIT
# bare_bwrap.py DIRECTORY <plan.json: prints the bwrap command line with the mounts of a plan, for the comparison in bench/launch.
# Files of the same size in DIRECTORY replace the files that the program would make.
import itertools
import json
import os
import sys

directory = sys.argv[1]
plan = json.load(sys.stdin)
numbers = itertools.count()


# Makes a file of the mount's size.
def stand_in(mount):
    name = f"{directory}/made.{next(numbers)}"
    with open(name, "w") as file:
        file.write("x" * mount["bytes"])
    return name


def bind(option):
    return lambda mount: [option, mount.get("source") or mount["target"], mount["target"]]


def bind_made(option):
    return lambda mount: [option, stand_in(mount), mount["target"]]


def empty(mount):
    return ["--ro-bind", "/dev/null", mount["target"]]


def at(option):
    return lambda mount: [option, mount["target"]]


RENDER = {
    "bind readonly": bind("--ro-bind"),
    "bind writable": bind("--bind"),
    "bind device": bind("--dev-bind"),
    "tmpfs": at("--tmpfs"),
    "directory": at("--dir"),
    "symlink": bind("--symlink"),
    "file": bind_made("--ro-bind"),
    "private file": bind_made("--bind"),
    "empty file": empty,
    "proc": at("--proc"),
    "dev": at("--dev"),
    "queues": at("--mqueue"),
    # The socket of a helper process, which a bare jail does not have; a file replaces it.
    "helper socket": empty,
    "seal": at("--remount-ro"),
}

words = "bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net".split()
words += ["--die-with-parent", "--cap-drop", "ALL"]
# The program makes a placeholder while it runs; here it exists during the whole measurement.
for made in plan["files"]["placeholders"] + plan["files"]["new_directories"]:
    os.makedirs(made["path"], exist_ok=True)
for mount in plan["files"]["mounts"]:
    kind = mount["kind"].replace("-", " ").replace("_", " ")
    words += RENDER[kind](mount) if kind in RENDER else sys.exit(f"a kind of mount that this script does not know: {kind}")
words += ["--chdir", plan["working_directory"]]
print(" ".join("'" + word.replace("'", "'\\''") + "'" for word in words))
