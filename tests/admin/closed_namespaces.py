# SPDX-License-Identifier: MIT
# closed_namespaces.py WAY COMMAND [ARGUMENT...]: runs the command where user namespaces are disabled, for it and its children only.
# Started by root; routes and mounts also by an ordinary user.
#
#   limit    user.max_user_namespaces is 0, in a new user namespace for the command: the limit is per namespace, so nothing on the
#            host changes. User ids stay the same, but root there has no power over devices, which firejail needs.
#   refuse   a filter returns EPERM for new user namespaces, as container engines do. Set-user-ID programs keep their power.
#   nothing  as refuse, and no program gains power by being executed, as in a container with no-new-privileges.
#   call     a filter returns ENOSYS for open_tree, as a kernel before 5.2 does. User namespaces are enabled.
#   routes   a filter refuses netlink sockets, as a service with RestrictAddressFamilies has it.
#   mounts   a filter refuses every call that changes mounts, as a service with SystemCallFilter=@system-service has it.
#   service  as mounts, and set-user-ID programs keep their power, as in a service that permits new privileges.
#   families a filter permits sockets of AF_UNIX only (RestrictAddressFamilies=AF_UNIX); set-user-ID programs keep their power.
#   moves    a filter returns EPERM for move_mount, as a kernel does for a process without privileges.
import ctypes
import os
import signal
import struct
import sys
from errno import EAFNOSUPPORT, ENOSYS, EPERM

libc = ctypes.CDLL(None, use_errno=True)
UNSHARE, CLONE, SOCKET = (97, 220, 198) if os.uname().machine == "aarch64" else (272, 56, 41)
MOUNT, UMOUNT2, PIVOT_ROOT = (40, 39, 41) if os.uname().machine == "aarch64" else (165, 166, 155)
OPEN_TREE, MOVE_MOUNT, CLONE3 = 428, 429, 435
# With fsopen, fsconfig, fsmount, fspick, mount_setattr and open_tree_attr.
MOUNT_CALLS = MOUNT, UMOUNT2, PIVOT_ROOT, OPEN_TREE, MOVE_MOUNT, 430, 431, 432, 433, 442, 467
AF_UNIX, AF_NETLINK = 1, 16
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, EQUAL, ANY_BIT, ANSWER = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")


# Without privileges, a filter can only be installed after this.
def gain_nothing():
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def install_filter(*steps):
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    sock_fprog = struct.pack("HP", len(steps), ctypes.addressof(program))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, sock_fprog, 0, 0), "filter")


def refuse_call(number, error):
    install_filter((LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (ANSWER, 0, 0, REFUSE | error), (ANSWER, 0, 0, ALLOW))


def refuse_netlink():
    install_filter(
        (LOAD, 0, 0, 0),
        (EQUAL, 0, 3, SOCKET),
        (LOAD, 0, 0, 16),
        (EQUAL, 0, 1, AF_NETLINK),
        (ANSWER, 0, 0, REFUSE | EAFNOSUPPORT),
        (ANSWER, 0, 0, ALLOW),
    )


def refuse_networks():
    install_filter(
        (LOAD, 0, 0, 0),
        (EQUAL, 0, 3, SOCKET),
        (LOAD, 0, 0, 16),
        (EQUAL, 1, 0, AF_UNIX),
        (ANSWER, 0, 0, REFUSE | EAFNOSUPPORT),
        (ANSWER, 0, 0, ALLOW),
    )


# The flags of clone3 are in memory, which a filter can't read. So it returns ENOSYS, and callers fall back to clone.
def refuse_user_namespaces():
    install_filter(
        (LOAD, 0, 0, 0),  # the call's number
        (EQUAL, 5, 0, CLONE3),  # to the ENOSYS answer
        (EQUAL, 1, 0, UNSHARE),
        (EQUAL, 0, 4, CLONE),
        (LOAD, 0, 0, 16),  # its first argument
        (ANY_BIT, 0, 2, CLONE_NEWUSER),
        (ANSWER, 0, 0, REFUSE | EPERM),
        (ANSWER, 0, 0, REFUSE | ENOSYS),
        (ANSWER, 0, 0, ALLOW),
    )


# A process in the parent namespace has to write the maps of the new one.
def enter_limited_namespace():
    outside = os.getpid()
    entered, entering = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.close(entering)
        os.read(entered, 1)
        for name in "uid_map", "gid_map":
            with open(f"/proc/{outside}/{name}", "w") as file:
                file.write("0 0 4294967295\n")
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    os.close(entering)
    if os.waitpid(mapper, 0)[1] != 0:
        sys.exit("no map")
    with open("/proc/sys/user/max_user_namespaces", "w") as limit:
        limit.write("0\n")


way, command = sys.argv[1], sys.argv[2:]
if way == "limit":
    enter_limited_namespace()
elif way == "call":
    refuse_call(OPEN_TREE, ENOSYS)
elif way == "routes":
    gain_nothing()
    refuse_netlink()
elif way == "families":
    refuse_networks()
elif way in ("mounts", "service"):
    if way == "mounts":
        gain_nothing()
    for number in MOUNT_CALLS:
        refuse_call(number, EPERM)
elif way == "moves":
    refuse_call(MOVE_MOUNT, EPERM)
else:
    if way == "nothing":
        gain_nothing()
    refuse_user_namespaces()
# Python ignores these signals, and the command would inherit that.
for each in signal.SIGPIPE, signal.SIGXFSZ:
    signal.signal(each, signal.SIG_DFL)
os.execvp(command[0], command)
