# SPDX-License-Identifier: MIT
# without_call.py NUMBER COMMAND...: runs a command for which this system call returns ENOSYS. For calls that strace has no name
# for; their numbers are the same on every architecture.
import ctypes
import errno
import os
import signal
import struct
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, COMPARE, RETURN = 0x20, 0x15, 0x06
ALLOWED, MISSING = 0x7FFF0000, 0x00050000 | errno.ENOSYS
libc = ctypes.CDLL(None, use_errno=True)

number, command = int(sys.argv[1]), sys.argv[2:]
program = [(LOAD, 0, 0, 0), (COMPARE, 0, 1, number), (RETURN, 0, 0, MISSING), (RETURN, 0, 0, ALLOWED)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
sock_fprog = struct.pack("HP", len(program), ctypes.addressof(code))
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, sock_fprog, 0, 0) != 0:
    sys.exit(f"filter: {os.strerror(ctypes.get_errno())}")
# Python ignores these signals, and the command would inherit that.
for each in signal.SIGPIPE, signal.SIGXFSZ:
    signal.signal(each, signal.SIG_DFL)
os.execvp(command[0], command)
