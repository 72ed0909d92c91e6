# SPDX-License-Identifier: MIT
# canary.py MASKED MODE ARGUMENT...: searches for a value in every form that a program might store it in. MASKED is the value with every
# byte xor 0x55, in hexadecimal: so neither this file nor the arguments contain it. Prints a line for each place where it is found.
#   files PATH...      every readable file below these paths
#   memory PID...      every readable page of these processes
#   jail               everything that a jail shows, except the system's own trees, and all of its processes except this one
#   plant FOLDER       writes each form to a file, a variable, an argument and the memory of a child, and must find all of them
import base64
import os
import stat
import subprocess
import sys

VALUE = bytes(byte ^ 0x55 for byte in bytes.fromhex(sys.argv[1]))
OVERLAP = 512
CHUNK = 1 << 20
# Read-only trees of the host, the same as outside.
SYSTEM = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/sys", "/dev/pts"}


def base64_forms(value):
    # The letters that do not depend on what is before and after the value.
    for before in range(3):
        coded = base64.b64encode(b"x" * before + value)
        start = [0, 2, 3][before]
        end = len(coded) - (4 if (before + len(value)) % 3 else 0)
        yield coded[start:end]
        yield coded[start:end].translate(bytes.maketrans(b"+/", b"-_"))


def forms_of(value):
    percent = "".join("%%%02X" % byte for byte in value).encode()
    forms = {"plain": [value], "reversed": [value[::-1]], "hexadecimal": [value.hex().encode(), value.hex().upper().encode()],
             "percent": [percent, percent.lower()], "base64": list(base64_forms(value)), "utf-16": [value.decode().encode("utf-16-le")]}
    return [(name, form) for name, all_forms in forms.items() for form in set(all_forms)]


FORMS = forms_of(VALUE)


def found_in(data):
    return sorted({name for name, form in FORMS if form in data})


def search(place, read):
    """`read` gives pieces; a value may lie across two of them."""
    before, seen = b"", set()
    for piece in read:
        data = before + piece
        seen.update(found_in(data))
        before = data[-OVERLAP:]
    if seen:
        print("FOUND", place, *sorted(seen), flush=True)
    return seen


def pieces_of(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return
    try:
        while piece := os.read(descriptor, CHUNK):
            yield piece
    except OSError:
        return
    finally:
        os.close(descriptor)


def search_files(paths, left_out=()):
    count = 0
    for path in paths:
        if os.path.isfile(path):
            count += 1
            search(path, pieces_of(path))
            search(path + " (its name)", [os.fsencode(path)])
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in left_out]
            for name in files:
                file = os.path.join(folder, name)
                try:
                    mode = os.lstat(file).st_mode
                except OSError:
                    continue
                if stat.S_ISLNK(mode):
                    search(file + " (link)", [os.fsencode(os.readlink(file))])
                if not stat.S_ISREG(mode):
                    continue
                count += 1
                search(file, pieces_of(file))
    return count


def pages_of(process):
    try:
        maps = open(f"/proc/{process}/maps").read().splitlines()
        memory = open(f"/proc/{process}/mem", "rb", buffering=0)
    except OSError:
        return
    with memory:
        for line in maps:
            fields = line.split()
            if "r" not in fields[1] or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            at, end = (int(number, 16) for number in fields[0].split("-"))
            while at < end:
                try:
                    memory.seek(at)
                    piece = memory.read(min(CHUNK, end - at))
                except (OSError, ValueError, OverflowError):
                    break
                if not piece:
                    break
                yield piece
                at += len(piece)


def search_process(process, with_memory=True):
    for name in ("environ", "cmdline", "comm", "status", "maps", "mounts", "stack", "auxv"):
        search(f"/proc/{process}/{name}", pieces_of(f"/proc/{process}/{name}"))
    try:
        for descriptor in os.listdir(f"/proc/{process}/fd"):
            path = f"/proc/{process}/fd/{descriptor}"
            if stat.S_ISREG(os.stat(path).st_mode):
                search(path, pieces_of(path))
    except OSError:
        pass
    return bool(with_memory and search(f"/proc/{process}/mem", pages_of(process)))


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def plant(folder):
    missing = []
    for number, (name, form) in enumerate(FORMS):
        path = f"{folder}/planted-{number}"
        with open(path, "wb") as file:
            file.write(b"z" * (CHUNK - 7) + form + b"z")  # across two reads
        if name not in search("planted file", pieces_of(path)):
            missing.append(("file", name))
        os.unlink(path)
        if b"\0" in form:
            continue
        child = subprocess.Popen([b"/bin/sh", b"-c", b"read x", form], env={b"PLANTED": form}, stdin=subprocess.PIPE)
        # The kernel has the new arguments when the name is the shell's.
        while b"read x" not in b"".join(pieces_of(f"/proc/{child.pid}/cmdline")):
            os.sched_yield()
        for place in ("environ", "cmdline"):
            if name not in search(f"planted {place}", pieces_of(f"/proc/{child.pid}/{place}")):
                missing.append((place, name))
        if name == "plain" and name not in search("planted memory", pages_of(child.pid)):
            missing.append(("memory", name))
        child.communicate()
    print("the search misses", missing) if missing else print("the search finds", len(FORMS), "planted forms")


mode, words = sys.argv[2], sys.argv[3:]
if mode == "files":
    print("searched", search_files(words), "files")
elif mode == "memory":
    for word in words:
        search_process(int(word))
elif mode == "jail":
    count = search_files(["/"], SYSTEM)
    all_processes = processes()
    for process in all_processes:
        search_process(process)
    search("own environment", [b"\0".join(key + b"=" + value for key, value in os.environb.items())])
    print("searched", count, "files and", len(all_processes), "processes")
elif mode == "plant":
    plant(words[0])
