#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Landlock around the command must not refuse what the plan permits. tests/session/walls_test.cc shows that it catches a mistake of
# the mounts, tests/landlock tests its rights version by version.

load helper
setup() { start_test; }
teardown() { end_test; }

# bats test_tags=smoke
@test "files can be made, moved, linked and removed in every writable place" {
    local place
    for place in "$PROJECT" "$HOME" /tmp /var/tmp /dev/shm; do
        works in_jail_sh 'cd "$1" && mkdir -p a/b && echo x >a/f && mv a/f a/b/g && ln a/b/g h && ln -s h i && mkfifo j &&
            truncate -s 0 h && mv h a/ && rm -r a i j' "$place"
    done
    works in_jail_sh 'echo x >/tmp/x && mv /tmp/x "$1/x" && mv "$1/x" /dev/shm/' "$PROJECT"
}

@test "a socket can be made and reached in the project and in /tmp" {
    works in_jail python3 -c 'import socket
for path in "s", "/tmp/s", "\0abstract":
    listener, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    client.connect(path)'
}

@test "the caller's own files and pipes can be opened again through /dev/stdout" {
    in_jail_sh 'echo out >/dev/stdout; echo error >/dev/stderr' >"$HOME/out" 2>"$HOME/error"
    [[ $(<"$HOME/out") == out && $(<"$HOME/error") == error ]]
    [[ $(in_jail_sh 'echo out >/dev/stdout' | cat) == out ]]
}

# Inside it is a pipe, which may be written: the file stays unchanged.
@test "a file that the caller opened for reading can't be opened again for writing" {
    echo content >"$HOME/input"
    sh -c 'echo outside >>/proc/self/fd/0' <"$HOME/input"
    works in_jail_sh 'echo inside >>/proc/self/fd/0' <"$HOME/input"
    [[ $(<"$HOME/input") == $'content\noutside' ]]
}

@test "a process sets its own entries in /proc" {
    works in_jail_sh 'echo 500 >/proc/self/oom_score_adj && echo name >/proc/self/comm'
}

@test "memory files, queues and shared memory work" {
    works in_jail python3 -c 'import os; open(f"/proc/self/fd/{os.memfd_create(str())}", "w+").write("x")'
    prints ok in_jail "${CALL[@]}" mq_open =queue 0102 0600 0
    works in_jail_sh 'touch /dev/mqueue/other && rm /dev/mqueue/other'
}

@test "job control and debugging inside work" {
    works in_jail bash -mc 'sleep 100 & kill -STOP %1 && kill -CONT %1 && kill %1; wait'
    if command -v strace; then works in_jail strace -f -o /dev/null sh -c 'true; (true)'; fi
    if command -v gdb; then works in_jail_sh 'sleep 100 & gdb -nx -batch -p $! -ex detach && kill $!'; fi
}

@test "one process of the jail reads another's memory" {
    cat >read.py <<'PYTHON'
import ctypes, os, struct, sys

secret = ctypes.create_string_buffer(b"memory of the parent")
parent = os.getpid()
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
there = struct.pack("PN", ctypes.addressof(secret), len(secret))
secret.value = b""
found = ctypes.create_string_buffer(len(secret))
here = struct.pack("PN", ctypes.addressof(found), len(found))
read = ctypes.CDLL(None).process_vm_readv(parent, here, 1, there, 1, 0)
sys.exit(read != len(secret) or found.value != b"memory of the parent")
PYTHON
    works in_jail python3 read.py
}
