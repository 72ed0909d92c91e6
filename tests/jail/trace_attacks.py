# SPDX-License-Identifier: MIT
# trace_attacks.py WAY: attacks of a program on the tracer, which reads the program's memory while its calls wait.
import ctypes
import os
import signal
import struct
import sys
import time

AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
libc = ctypes.CDLL(None, use_errno=True)
OPENAT, EXECVE, EXECVEAT = (56, 221, 281) if os.uname().machine == "aarch64" else (257, 59, 322)


def call(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *[ctypes.c_long(each) if isinstance(each, int) else each for each in arguments])


# Addresses that are not mapped, in the kernel, and at the very end of the address space.
def pointers():
    for address in 0, 1, 4095, (1 << 47) - 1, -1, -4096, 1 << 62:
        call(OPENAT, AT_FDCWD, address, 0, 0)
        call(EXECVE, address, address, address)
        call(EXECVE, b"/nowhere", address, 0)
    print("lives")


def open_often(path):
    for _ in range(5000):
        opened = call(OPENAT, AT_FDCWD, path, 0, 0)
        if opened >= 0:
            os.close(opened)
    os._exit(0)


# One process passes a path, another changes it in its memory all the time.
def memory():
    path = ctypes.create_string_buffer(b"/etc/passwd")
    child = os.fork()
    if child == 0:
        open_often(path)
    texts = [ctypes.create_string_buffer(text, 12) for text in (b"/etc/passwd", b"/etc/shadow", b"/nowhere/at", b"x" * 12)]
    there = struct.pack("PN", ctypes.addressof(path), 12)
    written = turn = 0
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        here = struct.pack("PN", ctypes.addressof(texts[turn % len(texts)]), 12)
        turn += 1
        written += libc.process_vm_writev(child, here, 1, there, 1, 0) > 0
    print("lives" if written else "could not write")


def words():
    os.execv("/bin/true", ["/bin/true"] + ["x" * 1000] * 2000)


# execve() calls that fail because of their arguments, of a program that exists.
def faked():
    name = ctypes.create_string_buffer(b"/bin/true")
    arguments = struct.pack("PP", ctypes.addressof(name), 0)
    broken = struct.pack("PPP", ctypes.addressof(name), 1, 0)
    call(EXECVE, name, 1, 0)
    call(EXECVE, name, broken, 0)
    call(EXECVE, name, arguments, 1)
    file = os.open("/bin/true", os.O_RDONLY)
    call(EXECVEAT, file, 1, arguments, 0, AT_EMPTY_PATH)
    call(EXECVEAT, file, b"", arguments, 0, 0)
    print("lives")


# Processes that are killed while their calls wait.
def killed():
    for _ in range(200):
        child = os.fork()
        while child == 0:
            os.close(os.open("/etc/hostname", os.O_RDONLY))
        time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print("lives")


{"pointers": pointers, "memory": memory, "words": words, "faked": faked, "killed": killed}[sys.argv[1]]()
