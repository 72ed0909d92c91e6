#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ways around the view that do not use files: core dumps, keyrings, queues, kernel settings, the stage itself.

load helper
setup() { start_test; }
teardown() { end_test; }

# With this limit (1 byte) the kernel neither writes a core file nor starts the host's crash handler. No other value does both.
# bats test_tags=smoke
@test "no core dump is written or passed to the host, and its limit can't be changed" {
    prints $'1\n1' in_jail_sh 'awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    prints $'1\n1' in_jail_sh 'ulimit -c 0; awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    prints $'1\n1' in_jail bash -c 'ulimit -c unlimited; awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    works in_jail_sh 'ulimit -c 0'
    run in_jail_sh 'ulimit -c unlimited; sh -c "kill -SEGV \$\$"; ls'
    [[ $output != *core* ]] || leak "a core file was written"
}

@test "the jail has its own session keyring" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[isolation]\nallow_keyrings = true\n' >"$HOME/.config/agent-sandbox/config.toml"
    # A key of the caller's session is found outside and not inside, even where the calls are allowed.
    cat >keys.py <<'PYTHON'
import ctypes, os, sys

add, request, keyctl = (217, 218, 219) if os.uname().machine == "aarch64" else (248, 249, 250)
join_session_keyring, session_keyring = 1, -3
call = ctypes.CDLL(None).syscall
if len(sys.argv) > 1:
    if call(keyctl, join_session_keyring, None) < 0 or call(add, b"user", b"planted-key", b"secret", 6, session_keyring) < 0:
        sys.exit("the key was not added")
    os.execvp(sys.argv[1], sys.argv[1:])
print("found" if call(request, b"user", b"planted-key", None, 0) >= 0 else "not found")
PYTHON
    prints found python3 keys.py python3 keys.py
    prints "not found" python3 keys.py "$SBX_PROGRAM" --quiet -- python3 keys.py
}

@test "System V and POSIX queues of the host are out of reach" {
    local id
    id=$(ipcmk -Q | sed 's/.*: //')
    works ipcs -q -i "$id"
    run in_jail ipcs -q -i "$id"
    ipcrm -q "$id"
    [[ $output == *"not found"* || $status != 0 ]] || leak "the host's queue is seen"
    local name=planted-$SBX_TAG
    prints ok "${CALL[@]}" mq_open "=$name" 0102 0600 0
    prints ok "${CALL[@]}" mq_open "=$name" 0 0 0
    prints ENOENT in_jail "${CALL[@]}" mq_open "=$name" 0 0 0
    python3 -c 'import ctypes, sys; ctypes.CDLL(None).mq_unlink(b"/" + sys.argv[1].encode())' "$name"
}

@test "an abstract socket of the host is out of reach with the host's network too" {
    start_listener "@planted-$SBX_TAG"
    works "${CONNECT[@]}" "@planted-$SBX_TAG"
    JAIL=(--network open)
    fails "" in_jail "${CONNECT[@]}" "@planted-$SBX_TAG"
}

@test "kernel settings can't be written, and /sys/kernel and /dev/mem are absent" {
    local file
    for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /proc/sys/vm/drop_caches; do
        fails "" in_jail_sh 'echo x >"$1"' "$file"
    done
    fails "" in_jail_sh 'echo x >/proc/irq/default_smp_affinity'
    fails "No such file or directory" in_jail ls /sys/kernel
    fails "No such file or directory" in_jail ls /dev/mem
    fails "" in_jail cat /proc/kcore
    fails "" in_jail cat /proc/kmsg
}

@test "pid 1 can't be traced or signalled" {
    command -v strace || skip "no strace"
    fails "Operation not permitted" in_jail strace -p 1
    prints EPERM in_jail "${CALL[@]}" ptrace 16 1 0 0
}
