# SPDX-License-Identifier: MIT
# attacks.py NAME [ARGUMENT...]: runs one attack on the jail. Prints a line for each way that it tries: "WAY: open" where the way
# works and must not, or "WAY: " and the error.
import contextlib
import ctypes
import errno
import fcntl
import os
import re
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
IS_ARM = os.uname().machine == "aarch64"


def number(x86, arm):
    return arm if IS_ARM else x86


def call(system_call, *arguments):
    result = libc.syscall(ctypes.c_long(system_call), *[ctypes.c_long(each) if isinstance(each, int) else each for each in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def report(way, attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        print(f"{way}: {error.strerror}", flush=True)
        return False
    print(f"{way}: open", flush=True)
    return True


# The greeting shows that the service itself was reached.
def read_greeting(connection, address):
    connection.connect(address)
    if not connection.recv(100):
        raise OSError(errno.ECONNRESET, "no greeting")


# DIRECTORY NAME: every way to write the path of a Unix socket
def sockets(directory, name):
    def attempt(way, path):
        report(way, lambda: read_greeting(socket.socket(socket.AF_UNIX), path))

    os.symlink(directory, "to-directory")
    os.symlink(f"{directory}/{name}", "to-socket")
    above = os.open(directory, os.O_PATH)
    itself = os.open(f"{directory}/{name}", os.O_PATH)
    attempt("path", f"{directory}/{name}")
    attempt("link to the directory", f"to-directory/{name}")
    attempt("link to the socket", "to-socket")
    for descriptors in "/proc/self/fd", "/dev/fd", "/proc/thread-self/fd":
        attempt(f"descriptor of the directory ({descriptors})", f"{descriptors}/{above}/{name}")
    attempt("descriptor of the directory, by the number of the process", f"/proc/{os.getpid()}/fd/{above}/{name}")
    for descriptors in "/proc/self/fd", "/dev/fd", "/proc/thread-self/fd":
        attempt(f"descriptor of the socket ({descriptors})", f"{descriptors}/{itself}")
    os.symlink(f"/proc/self/fd/{itself}", "to-descriptor")
    attempt("link to the descriptor", "to-descriptor")
    attempt("root of the process", f"/proc/self/root{directory}/{name}")
    report("hard link", os.link, f"{directory}/{name}", "hard")
    for link in "to-directory", "to-socket", "to-descriptor", "hard":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
    os.chdir(directory)
    attempt("relative", name)
    attempt("working directory", f"/proc/self/cwd/{name}")


# PORT: ways to the network that are not connect(), and to a port of the host
def network(port):
    port = int(port)
    netlink, mptcp, fast_open, fast_open_connect = 16, 262, 0x20000000, 30

    def tcp(family=socket.AF_INET):
        return socket.socket(family, socket.SOCK_STREAM)

    report("UDP", socket.socket, socket.AF_INET, socket.SOCK_DGRAM, 0)
    report("UDP over IPv6", socket.socket, socket.AF_INET6, socket.SOCK_DGRAM, 0)
    report("MPTCP", socket.socket, socket.AF_INET, socket.SOCK_STREAM, mptcp)
    report("netlink of sockets", socket.socket, netlink, socket.SOCK_RAW, 4)
    report("fast open", tcp().sendto, b"x", fast_open, ("127.0.0.1", port))
    report("fast open option", tcp().setsockopt, socket.IPPROTO_TCP, fast_open_connect, 1)
    report("interface", tcp().setsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    report("listen without a name", tcp().listen, 1)
    report("IPv4", read_greeting, tcp(), ("127.0.0.1", port))
    report("no address", read_greeting, tcp(), ("0.0.0.0", port))
    report("IPv4 in IPv6", read_greeting, tcp(socket.AF_INET6), ("::ffff:127.0.0.1", port))


# PORT: a connection that the peer can't answer, because it does not sign (TCP_MD5SIG). Does the kernel go on sending SYN?
def asking(port):
    tcp_md5sig = 14
    asker = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    asker.setblocking(False)
    peer = struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton("127.0.0.1"))
    asker.setsockopt(socket.IPPROTO_TCP, tcp_md5sig, struct.pack("128sBBHi80s", peer, 0, 0, 4, 0, b"none"))
    asker.connect_ex(("127.0.0.1", int(port)))
    own = f"{asker.getsockname()[1]:04X}"
    with open("/proc/self/net/tcp") as table:
        syn_sent = re.search(rf"^\s*\d+: [0-9A-F]{{8}}:{own} \S+ 02 ", table.read(), re.MULTILINE)
    print("asking: open" if syn_sent else "asking: " + os.strerror(errno.ECONNREFUSED))


# Makes the doorman's connect() wait for ever: the listener accepts no connection, and other processes remove the send timeout again
# and again.
def patience():
    with contextlib.suppress(FileNotFoundError):
        os.unlink("full.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("full.sock")
    listener.listen(0)
    first = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    for each in first:
        each.setblocking(False)
        each.connect_ex("full.sock")
    so_sndtimeo, for_ever = 21, struct.pack("qq", 0, 0)
    for _ in range(6):
        waiting = socket.socket(socket.AF_UNIX)
        for _ in range(2):
            if os.fork() == 0:
                while True:
                    waiting.setsockopt(socket.SOL_SOCKET, so_sndtimeo, for_ever)
        if os.fork() == 0:
            while True:
                waiting.connect_ex("full.sock")
                time.sleep(0.001)
    time.sleep(2)
    sys.exit(7)


# NAME: a POSIX queue
MQ_OPEN, MQ_UNLINK = number(240, 180), number(241, 181)


def open_queue(name, flags):
    call(MQ_OPEN, name.encode(), flags, 0o600, 0)


def make_queue(name):
    report("make", open_queue, name, os.O_RDWR | os.O_CREAT) or sys.exit(1)


def remove_queue(name):
    report("remove", call, MQ_UNLINK, name.encode()) or sys.exit(1)


def queue(name):
    report("open", open_queue, name, os.O_RDWR)
    report("make", open_queue, name + "-new", os.O_RDWR | os.O_CREAT)
    report("remove", call, MQ_UNLINK, name.encode())


# PROCESS: everything except kill() that can change it
def process(target):
    target = int(target)
    pidfd = libc.syscall(434, target, 0)
    report("signal through a descriptor", call, 424, pidfd, signal.SIGKILL, 0, 0)
    report("signal for a thread", call, number(234, 131), target, target, signal.SIGKILL)
    report("signal with a value", call, number(129, 138), target, signal.SIGKILL, struct.pack("iii116x", signal.SIGKILL, 0, -1))
    report("descriptor", call, 438, pidfd, 0, 0)
    report("affinity", call, number(203, 122), target, 128, struct.pack("16Q", 1, *[0] * 15))
    report("scheduler", call, number(144, 119), target, os.SCHED_IDLE, struct.pack("i", 0))
    report("priority of its input", call, number(251, 30), 1, target, 3 << 13)
    # The present priority: outside the call is allowed, and a lower priority would slow down the tests that follow.
    present = os.getpriority(os.PRIO_PROCESS, 0)
    report("priority of a group", lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(target), present))
    report("priority of all", os.setpriority, os.PRIO_USER, 0, present)
    report("memory", call, 448, pidfd, 0)
    # Makes the kernel send the signal when the pipe can be read. The caller checks whether it arrived.
    reader, writer = os.pipe()
    f_setsig = 10
    with contextlib.suppress(OSError):
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
        fcntl.fcntl(reader, fcntl.F_SETOWN, target)
        fcntl.fcntl(reader, f_setsig, signal.SIGKILL)
    os.write(writer, b"x")


# Leaves processes that are adopted by a process of the jail, stopped, or in the process group of the session's own processes.
def remain(seconds, group):
    def adopt_orphans():
        pr_set_child_subreaper = 36
        libc.prctl(pr_set_child_subreaper, 1, 0, 0, 0)

    def sleep():
        os.execvp("sleep", ["sleep", seconds])

    def leave():
        if os.fork():
            os._exit(0)

    adopt_orphans()
    if os.fork() == 0:
        leave()
        os.setsid()
        leave()
        for each in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
            signal.signal(each, signal.SIG_IGN)
        sleep()
    if os.fork() == 0:
        try:
            os.setpgid(0, int(group))
        except OSError as error:
            print(f"group: {error.strerror}", file=sys.stderr)
        sleep()
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        sleep()
    if os.fork() == 0:
        os.setsid()
        adopt_orphans()
        os.fork()
        sleep()


ATTACKS = {"make-queue": make_queue, "remove-queue": remove_queue}
for attack in sockets, network, asking, patience, queue, process, remain:
    ATTACKS[attack.__name__] = attack
ATTACKS[sys.argv[1]](*sys.argv[2:])
