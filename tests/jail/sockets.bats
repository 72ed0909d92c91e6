#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A read-only bind of a Unix socket can still be connected to: only absence closes it. Real listeners, really reachable outside.

load helper
setup() { start_test; }
teardown() {
    rm -rf "/tmp/agent-sandbox-test.$SBX_TAG.sock"
    end_test
}

greets() { prints "hello from outside" "${CONNECT[@]}" "$1"; }

unreachable() {
    greets "$1"
    fails "No such file or directory" in_jail "${CONNECT[@]}" "$1"
}

# bats test_tags=smoke
@test "a service's socket below /run is absent" {
    unreachable "/run/agent-sandbox-test.$SBX_TAG/service.sock"
}

@test "a socket in /tmp is absent" {
    start_listener "/tmp/agent-sandbox-test.$SBX_TAG.sock"
    unreachable "/tmp/agent-sandbox-test.$SBX_TAG.sock"
}

@test "a socket in the home directory is absent" {
    start_listener "$HOME/agent.sock"
    unreachable "$HOME/agent.sock"
}

@test "an abstract socket is out of reach" {
    start_listener "@agent-sandbox-test.$SBX_TAG"
    greets "@agent-sandbox-test.$SBX_TAG"
    fails "Connection refused" in_jail "${CONNECT[@]}" "@agent-sandbox-test.$SBX_TAG"
}

@test "--socket admits one socket, and no other" {
    start_listener "$HOME/one.sock"
    start_listener "$HOME/two.sock"
    JAIL=(--socket "$HOME/one.sock")
    prints "hello from outside" in_jail "${CONNECT[@]}" "$HOME/one.sock"
    unreachable "$HOME/two.sock"
}

@test "--socket of a file that is not a socket is refused" {
    echo x >"$HOME/file"
    JAIL=(--socket "$HOME/file")
    refused 125 "file" in_jail true
}

@test "--socket refuses a service that acts outside the jail" {
    mkdir -p "$HOME/.docker/run"
    start_listener "$HOME/.docker/run/docker.sock"
    greets "$HOME/.docker/run/docker.sock"
    JAIL=(--socket "$HOME/.docker/run/docker.sock")
    refused 125 "docker.sock" in_jail true
    JAIL=(--dangerous-socket "$HOME/.docker/run/docker.sock")
    works in_jail "${CONNECT[@]}" "$HOME/.docker/run/docker.sock"
    [[ $output == *"acts outside the jail"*"hello from outside" ]] || report "should warn, and let it in"
}

# Read-only says nothing about connecting.
@test "--ro and --rw admit no socket" {
    local way
    mkdir -p "$HOME/box"
    start_listener "$HOME/box/docker.sock"
    start_listener "$HOME/box/mine.sock"
    greets "$HOME/box/docker.sock"
    for way in --ro --rw; do
        JAIL=("$way" "$HOME/box/docker.sock")
        refused 125 "--dangerous-socket" in_jail true
        JAIL=("$way" "$HOME/box/mine.sock")
        refused 125 "--socket" in_jail true
        JAIL=("$way" "$HOME/box")
        # Another one in the directory is part of what was shown: the control.
        prints "hello from outside" in_jail "${CONNECT[@]}" "$HOME/box/mine.sock"
        run in_jail "${CONNECT[@]}" "$HOME/box/docker.sock"
        [[ $output != *"hello from outside"* ]] || leak "$way of its directory lets docker.sock in"
    done
}

# ---- Abstract names on the host's network ----------------------------------------------------------------------------

# names.py FORM NAME: binds the name, creates `ready`, and waits. Of a pair it binds one end.
names_program() {
    cat >names.py <<'PYTHON'
import ctypes, socket, sys
form, name = sys.argv[1], "\0" + sys.argv[2]
kind = {"stream": socket.SOCK_STREAM, "packet": socket.SOCK_SEQPACKET}.get(form, socket.SOCK_DGRAM)
if form == "pair":
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    ctypes.CDLL(None).connect(one.fileno(), b"\0" * 16, 16)  # to no family: it has no other end then
else:
    one = socket.socket(socket.AF_UNIX, kind)
one.bind(name)
if kind != socket.SOCK_DGRAM:
    one.listen()
with socket.socket(socket.AF_UNIX, kind) as inside:
    inside.connect(name)
open("ready", "w").close()
while True:
    one.recv(1) if kind == socket.SOCK_DGRAM else one.accept()
PYTHON
}
reach() { python3 -c 'import socket, sys
kind = {"stream": socket.SOCK_STREAM, "packet": socket.SOCK_SEQPACKET}.get(sys.argv[1], socket.SOCK_DGRAM)
s = socket.socket(socket.AF_UNIX, kind)
s.connect("\0" + sys.argv[2])
if kind == socket.SOCK_DGRAM: s.send(b"x")
print("reached")' "$@"; }

@test "no program of the host reaches an abstract name that the command bound" {
    local backend form name=agent-sandbox-test.$SBX_TAG
    names_program
    for form in stream packet datagram pair; do
        # The control: bound outside, it is reached.
        rm -f ready
        python3 names.py "$form" "$name" </dev/null >/dev/null 2>&1 3>&- &
        CHILDREN+=($!)
        wait_until test -e ready
        prints reached reach "$form" "$name"
        kill -KILL "${CHILDREN[-1]}"
        wait "${CHILDREN[-1]}" || true
        fails "Connection refused" reach "$form" "$name"
        for backend in native bwrap; do
            JAIL=(--network open --backend "$backend")
            start_jail 'exec python3 names.py "$1" "$2"' "$form" "$name"
            fails "Connection refused" reach "$form" "$name"
            # It is free outside.
            start_listener "@$name"
            greets "@$name"
            fails "Connection refused" in_jail "${CONNECT[@]}" "@$name"
            kill -KILL "${CHILDREN[-1]}"
            # Not killed: its keeper would remove placeholders while the next session starts.
            kill "$SUPERVISOR"
            wait "$SUPERVISOR" "${CHILDREN[-1]}" || true
        done
    done
}

@test "abstract names stay inside where the command is traced" {
    names_program
    JAIL=(--network open --trace-commands)
    start_jail 'exec python3 names.py datagram "$1"' "agent-sandbox-test.$SBX_TAG"
    fails "Connection refused" reach datagram "agent-sandbox-test.$SBX_TAG"
}

# A socket stays in the network namespace in which it was made, also if the kernel chooses its name or another process gets it.
@test "names that the kernel chooses and sockets that are passed on stay inside" {
    cat >auto.py <<'PYTHON'
import array, os, socket
pair = socket.socketpair()
one = socket.socket(socket.AF_UNIX)
one.bind("")
one.listen()
socket.send_fds(pair[0], [b"x"], [one.fileno()])
passed = socket.socket(fileno=socket.recv_fds(pair[1], 1, 1)[1][0])
wants = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
wants.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
try: wants.connect("\0nothing there")
except OSError: pass
open("names", "wb").write(passed.getsockname() + b"\n" + (wants.getsockname() or b"") + b"\n")
os.rename("names", "ready")
passed.accept()
PYTHON
    JAIL=(--network open)
    start_jail 'exec python3 auto.py'
    local line
    while IFS= read -r line; do
        line=${line#*$'\0'}
        [[ -z $line ]] || fails "Connection refused" reach stream "$line"
    done < <(tr -d '\0' <ready)
    grep -qaE '^.[0-9a-f]{5}$' ready || report "the kernel chose no name"
}

@test "an inherited socket that could take a name of the host is refused" {
    JAIL=(--network open)
    cat >inherit.py <<'PYTHON'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[1]))
os.dup2(s.fileno(), 0)
os.execvp(sys.argv[2], sys.argv[2:])
PYTHON
    refused 125 "descriptor 0" python3 inherit.py SOCK_DGRAM "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- true
    refused 125 "descriptor 0" python3 inherit.py SOCK_STREAM "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- true
    # Programs start other programs with a connected pair.
    prints "through a pair" python3 -c 'import socket, subprocess, sys
one, other = socket.socketpair()
child = subprocess.Popen(sys.argv[1:], stdin=other)
other.close()
one.sendall(b"through a pair\n")
one.close()
child.wait()' "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- cat
}

@test "programs with Unix sockets of their own work on the host's network" {
    local backend
    for backend in native bwrap; do
        JAIL=(--network open --backend "$backend")
        works in_jail_sh 'eval "$(ssh-agent)" >/dev/null && ssh-keygen -q -t ed25519 -N "" -f "$TMPDIR/key" && ssh-add "$TMPDIR/key" && ssh-add -l'
        works in_jail_sh 'GNUPGHOME=$(mktemp -d) gpg-connect-agent --agent-program /usr/bin/gpg-agent "GETINFO version" /bye'
        works in_jail_sh 'tmux -f /dev/null new-session -d "sleep 1000" && tmux list-sessions && tmux kill-server'
        works in_jail node -e 'const net = require("net"); for (const path of ["s.sock", "\0agent-sandbox-test"]) {
            const server = net.createServer(c => c.end("hello")).listen(path, () =>
                net.connect(path).on("data", d => console.log(String(d))).on("close", () => server.close())); }'
        works in_jail python3 -c 'import multiprocessing as m; m.set_start_method("forkserver"); print(m.Manager().list([1]))'
        works in_jail_sh 'dbus-daemon --session --address=unix:abstract=/tmp/dbus-test --print-address --fork >address && DBUS_SESSION_BUS_ADDRESS=$(cat address) dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId'
    done
}
