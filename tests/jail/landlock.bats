#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The jail without any namespace: Landlock, the seccomp filter and the doorman. Files that no rule grants can't be opened (their
# names may be visible), processes outside can't be changed, and nothing is left when the command ends.

load helper
setup() {
    start_test
    JAIL=(--backend landlock)
}
# The backend prints at each start what it does not enforce. One test checks that.
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }
teardown() { end_test; }

expect_denied() {
    works cat "$1"
    fails "Permission denied" in_jail cat "$1"
}

# ---- Files -----------------------------------------------------------------------------------------------------------

# bats test_tags=smoke
@test "credentials and other projects can't be read, listed or changed" {
    mkdir -m 0700 "$HOME/.ssh" "$HOME/other"
    echo key >"$HOME/.ssh/id_ed25519"
    echo code >"$HOME/other/main.c"
    echo token >"$HOME/.netrc"
    for file in "$HOME/.ssh/id_ed25519" "$HOME/other/main.c" "$HOME/.netrc" "$SBX_NEIGHBOUR_HOME/secret" \
        "/srv/agent-sandbox-test.$SBX_TAG/secret" "/var/lib/agent-sandbox-test.$SBX_TAG/secret"; do
        expect_denied "$file"
    done
    works ls "$HOME/.ssh"
    for directory in "$HOME/.ssh" "$HOME" "$HOME/other" / /tmp /home; do
        fails "Permission denied" in_jail ls "$directory"
    done
    expect_unwritable "$HOME/other/main.c"
    fails "Permission denied" in_jail_sh 'echo x >"$1"' "$HOME/.ssh/authorized_keys"
    fails "Permission denied" in_jail touch "$HOME/new" /tmp/agent-sandbox-new
}

@test "in a home that can be read, credentials stay closed" {
    JAIL+=(--home read)
    mkdir -m 0700 "$HOME/.ssh" "$HOME/other"
    echo key >"$HOME/.ssh/id_ed25519"
    echo code >"$HOME/other/main.c"
    prints code in_jail cat "$HOME/other/main.c"
    expect_denied "$HOME/.ssh/id_ed25519"
}

@test "in a writable home, the sandbox's own configuration can't be written" {
    JAIL+=(--home write)
    mkdir -p "$HOME/.config/agent-sandbox" "$HOME/other"
    echo '# mine' >"$HOME/.config/agent-sandbox/config.toml"
    works in_jail touch "$HOME/other/new"
    expect_unwritable "$HOME/.config/agent-sandbox/config.toml"
    works mv "$HOME/.config" "$HOME/.config-aside"
    works mv "$HOME/.config-aside" "$HOME/.config"
    fails "" in_jail mv "$HOME/.config/agent-sandbox" "$HOME/.config/aside"
    fails "" in_jail mv "$HOME/.config" "$HOME/.config-aside"
}

@test "no link, old or new, leads out" {
    echo secret >"$HOME/secret"
    ln -s "$HOME/secret" soft
    works cat soft
    fails "Permission denied" in_jail cat soft
    fails "Permission denied" in_jail_sh 'ln -s "$1" new && cat new' "$HOME/secret"
    works sh -c 'ln "$1" hard && rm hard' sh "$HOME/secret"
    fails "" in_jail ln "$HOME/secret" hard
    works sh -c 'mv "$1" moved && mv moved "$1"' sh "$HOME/secret"
    fails "" in_jail mv "$HOME/secret" moved
    fails "Permission denied" in_jail cat "/proc/self/root$HOME/secret"
}

@test "the project can be written, files move in it, and git commits" {
    works in_jail_sh 'mkdir a b && echo x >a/f && mv a/f b/f && ln b/f a/g && chmod 0700 a/g && rm b/f'
    [[ $(<a/g) == x ]]
    make_repository "$PROJECT"
    works in_jail_sh 'git add a && git commit -q -m first && git log --oneline'
    [[ $(git log --format=%s) == first ]]
}

@test "a project for reading can only be read" {
    echo content >file
    JAIL+=(--read-only)
    prints content in_jail cat file
    fails "Permission denied" in_jail touch new
    fails "" in_jail chmod 0700 file
}

@test "TMPDIR works and is gone afterwards" {
    works in_jail_sh 'echo x >"$TMPDIR/f" && cat "$(mktemp)" && echo "$TMPDIR"'
    [[ -n $output && ! -e $output ]]
}

@test "modes, owners, times and attributes outside the project can't be changed" {
    echo x >"$HOME/file"
    works chmod 0644 "$HOME/file"
    fails "" in_jail chmod 0600 "$HOME/file"
    [[ $(stat -c %a "$HOME/file") == 644 ]]
    works touch -d 2001-01-01 "$HOME/file"
    fails "" in_jail touch -d 2002-02-02 "$HOME/file"
    [[ $(stat -c %y "$HOME/file") == 2001-01-01* ]]
    works in_jail_sh 'touch -d 2003-03-03 here && chmod 0700 here'
}

@test "system files can be read and executed, and no other terminal can be opened" {
    works in_jail cat /etc/hosts /proc/self/status
    works in_jail python3 -c "print(1)"
    works in_jail_sh 'echo x >/dev/null && head -c 1 /dev/urandom >/dev/null'
    fails "Permission denied" in_jail_sh 'exec 3<>/dev/ptmx'
    fails "Permission denied" in_jail ls /dev/pts /dev/shm
}

# ---- Processes -------------------------------------------------------------------------------------------------------

start_outside() {
    SBX_SECRET=planted sleep 1000 3>&- &
    OUTSIDE=$!
    CHILDREN+=("$OUTSIDE")
    wait_until grep -q sleep "/proc/$OUTSIDE/cmdline"
}

@test "environment, memory and files of a process outside can't be read" {
    start_outside
    works grep -q planted "/proc/$OUTSIDE/environ"
    works ls "/proc/$OUTSIDE/root/" "/proc/$OUTSIDE/fd/"
    for entry in environ maps mem auxv; do
        fails "Permission denied" in_jail cat "/proc/$OUTSIDE/$entry"
    done
    # The numbers of its descriptors can be listed, as outside; their targets can't be read.
    for entry in root/ cwd/; do
        fails "Permission denied" in_jail ls "/proc/$OUTSIDE/$entry"
    done
    works readlink "/proc/$OUTSIDE/fd/0"
    fails "" in_jail readlink "/proc/$OUTSIDE/fd/0"
    works in_jail cat /proc/self/environ
}

@test "a process outside can't be traced or its memory copied" {
    start_outside
    # 0x4206: PTRACE_SEIZE. The address is where the kernel put the process's stack.
    prints ok "${CALL[@]}" ptrace 0x4206 "$OUTSIDE" 0 0
    prints EPERM in_jail "${CALL[@]}" ptrace 0x4206 "$OUTSIDE" 0 0
    local copy='import ctypes, os, struct, sys
process, address = int(sys.argv[1]), int(sys.argv[2], 16)
libc = ctypes.CDLL(None, use_errno=True)
found = ctypes.create_string_buffer(8)
here, there = struct.pack("PN", ctypes.addressof(found), 8), struct.pack("PN", address, 8)
if libc.process_vm_readv(process, here, 1, there, 1, 0) < 0:
    sys.exit(f"refused: {os.strerror(ctypes.get_errno())}")'
    local address
    address=$(sed -n 's/^\([0-9a-f]*\)-.*\[stack\]$/\1/p' "/proc/$OUTSIDE/maps")
    works python3 -c "$copy" "$OUTSIDE" "$address"
    fails "refused: Operation not permitted" in_jail python3 -c "$copy" "$OUTSIDE" "$address"
}

@test "a process outside can't be signalled, slowed down or limited" {
    start_outside
    works kill -0 "$OUTSIDE"
    fails "Operation not permitted" in_jail_sh 'kill -0 "$1"' "$OUTSIDE"
    fails "Operation not permitted" in_jail_sh 'kill -KILL "$1"' "$OUTSIDE"
    # A process may always lower its priority to 19, whatever the priority of the tests.
    works renice -n 19 "$OUTSIDE"
    fails "" in_jail renice -n 19 "$OUTSIDE"
    works prlimit --pid "$OUTSIDE" --nofile=512:512
    fails "" in_jail prlimit --pid "$OUTSIDE" --nofile=256:256
    [[ $(awk '/Max open files/ { print $4 }' "/proc/$OUTSIDE/limits") == 512 ]]
    kill -0 "$OUTSIDE"
}

@test "kill 0 and kill -1 reach no process outside" {
    start_outside
    works in_jail_sh 'trap "" TERM; kill -TERM 0; kill -TERM -1 2>/dev/null; true'
    kill -0 "$OUTSIDE"
}

@test "the processes of the sandbox itself can't be touched" {
    start_jail 'touch ready; sleep 1000'
    local process
    for process in "$SUPERVISOR" $(pgrep -P "$SUPERVISOR"); do
        fails "Operation not permitted" in_jail_sh 'kill -KILL "$1"' "$process"
        fails "Permission denied" in_jail cat "/proc/$process/environ"
    done
    kill -0 "$SUPERVISOR"
}

@test "the command has no capability, has no_new_privs, and gains nothing from a setuid program" {
    works in_jail grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status
    [[ $(grep -c $'\t0000000000000000$' <<<"$output") == 4 ]] || leak "capabilities are left"
    works in_jail grep $'^NoNewPrivs:\t1' /proc/self/status
    prints 0 "$SBX_STAGE/bin/setuid-id" -u
    prints "$(id -u)" in_jail "$SBX_STAGE/bin/setuid-id" -u
}

@test "the command has no descriptor of the sandbox's" {
    run in_jail ls /proc/self/fd
    # The fourth is the directory that ls reads.
    [[ ${lines[*]} == "0 1 2 3" ]] || leak "more descriptors than expected"
}

# ---- Sockets ---------------------------------------------------------------------------------------------------------

@test "no Unix socket of the host can be reached" {
    local place
    for place in "$HOME/service.sock" "/tmp/sbx-$SBX_TAG.sock" "@sbx-$SBX_TAG"; do
        start_listener "$place"
        works "${CONNECT[@]}" "$place"
        fails "connect: " in_jail "${CONNECT[@]}" "$place"
        [[ $place == @* ]] || rm -f "$place"
    done
    works "${CONNECT[@]}" "/run/agent-sandbox-test.$SBX_TAG/service.sock"
    fails "connect: " in_jail "${CONNECT[@]}" "/run/agent-sandbox-test.$SBX_TAG/service.sock"
}

@test "a link in the project leads to no socket of the host" {
    start_listener "$HOME/service.sock"
    ln -s "$HOME/service.sock" link.sock
    works "${CONNECT[@]}" link.sock
    fails "connect: " in_jail "${CONNECT[@]}" link.sock
}


@test "no abstract name of the host can be bound, and the record names the attempt" {
    local mode
    prints bound "${BIND[@]}" "@sbx-$SBX_TAG"
    for mode in open filtered isolated; do
        JAIL=(--backend landlock --network "$mode")
        fails "bind: Permission denied" in_jail "${BIND[@]}" "@sbx-$SBX_TAG"
        grep -hF '"kind":"socket"' "$HOME"/.local/state/agent-sandbox/sessions/*.jsonl | grep -qF "\"name\":\"@sbx-$SBX_TAG\"" ||
            report "not recorded"
        wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null
    done
}

@test "a socket with a file is bound as outside: its directory, mode and name" {
    mkdir -p below "$HOME/closed"
    cat >bind.py <<'PYTHON'
import os, socket, stat
os.umask(0o027)
os.chdir("below")
s = socket.socket(socket.AF_UNIX)
s.bind("it.sock")
s.listen()
mode = stat.S_IMODE(os.stat("it.sock").st_mode)
c = socket.socket(socket.AF_UNIX)
c.connect("it.sock")
print(s.getsockname(), oct(mode), os.path.exists("it.sock"))
os.unlink("it.sock")
PYTHON
    prints "it.sock 0o750 True" python3 bind.py
    prints "it.sock 0o750 True" in_jail python3 bind.py
    prints bound "${BIND[@]}" "$HOME/closed/s"
    fails "bind: Address already in use" "${BIND[@]}" "$HOME/closed/s"
    rm "$HOME/closed/s"
    ln -s "$HOME/closed" way
    local path
    for path in "$HOME/closed/s" way/s ../closed/s /proc/self/cwd/../closed/s; do
        fails "bind: Permission denied" in_jail "${BIND[@]}" "$path"
        [[ ! -e $HOME/closed/s ]] || leak "made: $path"
    done
    # Internet sockets are bound as usual.
    JAIL+=(--network open)
    works in_jail python3 -c 'import socket; socket.create_server(("127.0.0.1", 0))'
    works in_jail_sh 'eval "$(ssh-agent -a "$TMPDIR/agent")" >/dev/null && ssh-add -l; test $? = 1; kill "$SSH_AGENT_PID"'
}

@test "isolated: no port of the host can be reached, by TCP or UDP" {
    JAIL+=(--network isolated)
    start_service
    local client='import socket, sys
try:
    connection = socket.socket(socket.AF_INET, int(sys.argv[2]))
    connection.connect(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    sys.exit(f"refused: {error.strerror}")
connection.send(b"x")'
    local tcp=1 udp=2 kind
    for kind in "$tcp" "$udp"; do
        works python3 -c "$client" "$PORT" "$kind"
        fails "refused: " in_jail python3 -c "$client" "$PORT" "$kind"
    done
}

# ---- The end ---------------------------------------------------------------------------------------------------------

is_gone() { ! pgrep -u "$SBX_USER" -xf "sleep $1" >/dev/null; }
is_there() { ! is_gone "$1"; }

# A typical daemon: two forks, its own session, and it ignores the signals that ask it to end.
DAEMON="setsid -f sh -c 'env --ignore-signal=HUP,INT,TERM sleep \$0 &'"

@test "nothing is left running when the command ends" {
    works in_jail_sh "$DAEMON 4001; (setsid sleep 4002 &); sleep 4003 & nohup sleep 4004 >/dev/null 2>&1 & sleep 0.2"
    for number in 4001 4002 4003 4004; do wait_until is_gone "$number"; done
    # The control: outside, a daemon keeps running.
    sh -c "$DAEMON 4005" 3>&-
    wait_until is_there 4005
    CHILDREN+=("$(pgrep -u "$SBX_USER" -xf "sleep 4005")")
}

@test "a fork bomb ends with the command" {
    run timeout 120 "$SBX_PROGRAM" --quiet "${JAIL[@]}" --limit processes=200 -- bash -c \
        'f() { sleep 4010 & setsid sleep 4010 & f | f & }; f 2>/dev/null; sleep 0.5; exit 3'
    ((status == 3)) || report "should have ended by itself"
    wait_until is_gone 4010
}

@test "when the supervisor is killed, every process ends" {
    start_jail "$DAEMON 4020; sleep 4021 & touch ready; wait"
    wait_until is_there 4020
    kill -KILL "$SUPERVISOR"
    for number in 4020 4021; do wait_until is_gone "$number" || report "left: $number"; done
}

@test "when the stage or the warden is killed, every process ends" {
    local victim
    for victim in warden stage; do
        start_jail "$DAEMON 4030; sleep 4031 & touch ready; wait"
        wait_until is_there 4030
        local warden stage
        warden=$(pgrep -P "$SUPERVISOR" -f inner-stage | head -n 1)
        stage=$(pgrep -P "$warden" -f inner-stage)
        kill -KILL "${!victim}"
        for number in 4030 4031; do wait_until is_gone "$number" || report "left: $number"; done
        end_of_jail
        ((STATUS != 0))
    done
}

@test "exit codes and signals arrive" {
    run -7 in_jail_sh 'exit 7'
    run -127 in_jail no-such-command
    run -143 in_jail_sh 'kill -TERM $$'
    start_jail 'trap "echo asked >asked; exit 5" TERM; touch ready; while :; do sleep 0.1; done'
    kill -TERM "$SUPERVISOR"
    end_of_jail
    [[ $STATUS == 5 && $(<asked) == asked ]]
}

@test "a job can be stopped and goes on" {
    start_jail 'echo $$ >inside; i=0; echo $i >count; touch ready; while :; do i=$((i + 1)); echo $i >count; sleep 0.05; done'
    local inside
    inside=$(<inside)
    kill -STOP "$inside"
    local before
    before=$(<count)
    sleep 0.3
    [[ $(<count) == "$before" || $(<count) == $((before + 1)) ]]
    kill -CONT "$inside"
    wait_until eval '[[ $(<count) -gt $((before + 2)) ]]'
    kill -TERM "$SUPERVISOR"
    end_of_jail
}
