# SPDX-License-Identifier: MIT
# closed_namespaces.py WAY COMMAND [ARGUMENT...]: runs the command where user namespaces are disabled, for it and its children only.
# Started by root.
#
#   limit    user.max_user_namespaces is 0, in a new user namespace for the command: the limit is per namespace, so nothing on the
#            host changes. User ids stay the same, but root there has no power over devices, which firejail needs.
#   refuse   a filter returns EPERM for new user namespaces, as container engines do. Set-user-ID programs keep their power.
#   nothing  as refuse, and no program gains power by being executed, as in a container with no-new-privileges.
#   call     a filter returns ENOSYS for open_tree, as a kernel before 5.2 does. User namespaces are enabled.
#   moves    a filter returns EPERM for move_mount, as a kernel does for a process without privileges.
import ctypes
import os
import signal
import struct
import sys
from errno import ENOSYS, EPERM

libc = ctypes.CDLL(None, use_errno=True)
UNSHARE, CLONE = (97, 220) if os.uname().machine == "aarch64" else (272, 56)
OPEN_TREE, MOVE_MOUNT, CLONE3 = 428, 429, 435
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, EQUAL, ANY_BIT, ANSWER = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")


def install_filter(*steps):
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    sock_fprog = struct.pack("HP", len(steps), ctypes.addressof(program))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, sock_fprog, 0, 0), "filter")


def refuse_call(number, error):
    install_filter((LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (ANSWER, 0, 0, REFUSE | error), (ANSWER, 0, 0, ALLOW))


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
elif way == "moves":
    refuse_call(MOVE_MOUNT, EPERM)
else:
    if way == "nothing":
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    refuse_user_namespaces()
# Python ignores these signals, and the command would inherit that.
for each in signal.SIGPIPE, signal.SIGXFSZ:
    signal.signal(each, signal.SIG_DFL)
os.execvp(command[0], command)
