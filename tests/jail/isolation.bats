#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ways around the view that do not use files: core dumps, keyrings, queues, kernel settings, the stage itself.

load helper
setup() { start_test; }
teardown() { end_test; }

CALL=(perl "$SBX_STAGE/tests/jail/call.pl")

# With this limit (1 byte) the kernel neither writes a core file nor starts the host's crash handler. No other value does both.
# bats test_tags=smoke
@test "no crash is written or handed to the host, and the limit can't be changed" {
    prints $'1\n1' in_jail_sh 'awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    prints $'1\n1' in_jail_sh 'ulimit -c 0; awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    prints $'1\n1' in_jail bash -c 'ulimit -c unlimited; awk "/core file size/ { print \$5; print \$6 }" /proc/self/limits'
    works in_jail_sh 'ulimit -c 0'
    run in_jail_sh 'ulimit -c unlimited; sh -c "kill -SEGV \$\$"; ls'
    [[ $output != *core* ]] || report "a core file was written"
}

@test "the session keyring is one of the jail's own" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[isolation]\nallow_keyrings = true\n' >"$HOME/.config/agent-sandbox/config.toml"
    # A key of the caller's session is found outside and not inside, even where the calls are allowed.
    cat >keys.pl <<'PERL'
my ($add, $request, $keyctl) = `uname -m` =~ /aarch64/ ? (217, 218, 219) : (248, 249, 250);
my ($type, $name, $secret) = ("user", "planted-key", "secret");
if (@ARGV) {
    syscall($keyctl, 1, 0) >= 0 or die "join: $!";
    syscall($add, $type, $name, $secret, 6, -3) >= 0 or die "add: $!";
    exec @ARGV;
}
print syscall($request, $type, $name, 0, 0) >= 0 ? "found\n" : "not found\n";
PERL
    prints found perl keys.pl perl keys.pl
    prints "not found" perl keys.pl "$SBX_PROGRAM" --quiet -- perl keys.pl
}

@test "System V and POSIX queues of the host are out of reach" {
    local id
    id=$(ipcmk -Q | sed 's/.*: //')
    works ipcs -q -i "$id"
    run in_jail ipcs -q -i "$id"
    ipcrm -q "$id"
    [[ $output == *"not found"* || $status != 0 ]] || report "the host's queue is seen"
    local name=planted-$SBX_TAG
    prints ok "${CALL[@]}" mq_open "=$name" 0102 0600 0
    prints ok "${CALL[@]}" mq_open "=$name" 0 0 0
    prints ENOENT in_jail "${CALL[@]}" mq_open "=$name" 0 0 0
    perl -e 'syscall(`uname -m` =~ /aarch64/ ? 181 : 241, $ARGV[0])' "$name"
}

@test "an abstract socket of the host is out of reach with the host's network too" {
    start_listener "@planted-$SBX_TAG"
    works "${CONNECT[@]}" "@planted-$SBX_TAG"
    JAIL=(--network open)
    fails "" in_jail "${CONNECT[@]}" "@planted-$SBX_TAG"
}

@test "settings of the kernel can't be written and its switches are not there" {
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
