# SPDX-License-Identifier: MIT
# hold_file.py KIND FILE: opens FILE as soon as that is possible, and keeps it open in the way that KIND names. Each kind is a place
# where an open file outlives its name. A process that is not killed tries again: it may have opened a file that was replaced once
# more.
import array
import ctypes
import mmap
import os
import socket
import sys
import threading
import time

kind, path = sys.argv[1:3]
KEY = b"[core]\n\tfsmonitor = /tmp/planted\n"
libc = ctypes.CDLL(None)
EXIT = 60 if os.uname().machine == "x86_64" else 93  # exit(2): of the thread alone


def hold():
    threading.Event().wait(0.5)


def open_when_bare(flags):
    while True:
        try:
            return os.open(path, flags)
        except OSError:
            pass


def open_masked():
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        if os.fstat(descriptor).st_size > 0:
            return descriptor
        os.close(descriptor)


def open_directory_when_bare():
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            os.close(os.open("planted", os.O_WRONLY | os.O_CREAT, 0o755, dir_fd=descriptor))
            return descriptor
        except OSError:
            os.close(descriptor)


def keep():
    descriptor = open_when_bare(os.O_RDWR)
    hold()
    os.close(descriptor)


def keep_in_socket():
    descriptor = open_when_bare(os.O_RDWR)
    ours, other = socket.socketpair()
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])
    os.close(descriptor)
    hold()
    ours.close()
    other.close()


def keep_in_many_sockets():
    # Always in a queue, and never twice in the same one.
    descriptor = open_when_bare(os.O_RDWR)
    pairs = [socket.socketpair() for _ in range(32)]
    for number in range(1000):
        ours, other = pairs[number % len(pairs)]
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))])
        os.close(descriptor)
        threading.Event().wait(0.0005)
        _, [(_, _, data)], _, _ = other.recvmsg(1, socket.CMSG_SPACE(4))
        descriptor = array.array("i", data)[0]
    os.close(descriptor)
    for pair in pairs:
        for end in pair:
            end.close()


def keep_in_mapping_of_thread():
    # The first thread ends; the memory of the others is not shown in /proc/PID/maps then.
    def hold_mapping():
        mapping = None
        while True:
            descriptor = open_when_bare(os.O_RDWR)
            mapping = mmap.mmap(descriptor, 0)
            os.close(descriptor)
            hold()
            mapping.close()

    threading.Thread(target=hold_mapping).start()
    libc.syscall(EXIT, 0)


def keep_in_thread():
    def own_table():
        clone_files = 0x400
        libc.unshare(clone_files)
        open_when_bare(os.O_RDWR)
        hold()

    thread = threading.Thread(target=own_table)
    thread.start()
    thread.join()


def keep_in_mapping():
    descriptor = open_when_bare(os.O_RDWR)
    mapping = mmap.mmap(descriptor, 0)
    os.close(descriptor)
    hold()
    mapping.close()


def open_again():
    # A process can reopen a read-only descriptor for writing, if it opened the descriptor while the name was not covered.
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR))
            return hold()
        except OSError:
            pass
        finally:
            os.close(descriptor)


def link_it():
    # Through a cover this is refused: the cover is another mount. Each link has its own name: one to a file that was replaced
    # once more before the keeper looked is not reported, and must not stand in the way.
    name = f"{path}-again-{os.getpid()}-{time.monotonic_ns()}"
    while True:
        try:
            os.link(path, name)
            return hold()
        except OSError:
            pass


def write_and_close():
    descriptor = open_when_bare(os.O_RDWR | os.O_APPEND)
    os.write(descriptor, KEY)
    os.close(descriptor)
    hold()


def write_and_exit():
    descriptor = open_when_bare(os.O_RDWR | os.O_APPEND)
    os.write(descriptor, KEY)
    os._exit(0)


def read_masked():
    descriptor = open_masked()
    hold()
    os.close(descriptor)


def keep_directory():
    descriptor = open_directory_when_bare()
    hold()
    os.close(descriptor)


def enter_directory():
    before = os.open(".", os.O_RDONLY)
    descriptor = open_directory_when_bare()
    os.fchdir(descriptor)
    os.close(descriptor)
    hold()
    os.fchdir(before)
    os.close(before)


def read_through_cover():
    # Every git process opens the covered file like this: the keeper must not kill it.
    os.open(path, os.O_RDONLY)
    open(f"reading.{os.getpid()}", "w").close()
    threading.Event().wait()


KINDS = {
    "keep": keep,
    "socket": keep_in_socket,
    "sockets": keep_in_many_sockets,
    "ended": keep_in_mapping_of_thread,
    "thread": keep_in_thread,
    "mapping": keep_in_mapping,
    "again": open_again,
    "write": write_and_close,
    "link": link_it,
    "leave": write_and_exit,
    "masked": read_masked,
    "directory": keep_directory,
    "enter": enter_directory,
    "cover": read_through_cover,
}
while True:
    KINDS[kind]()
