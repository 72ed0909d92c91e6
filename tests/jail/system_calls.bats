#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The seccomp filter, from inside. The tests also check the result of each call outside, where an ordinary user can make it;
# tests/seccomp tries the filter itself with every combination of switches.

load helper
setup() { start_test; }
teardown() { end_test; }

# answers ERROR NAME...: each call returns ERROR inside, whatever its arguments.
answers() {
    local error=$1 name
    shift
    run in_jail "${CALL[@]}" < <(printf '%s 0 0 0 0 0 0\n' "$@")
    ((status == 0)) || report "should run"
    for name in "$@"; do
        [[ $'\n'$output$'\n' == *$'\n'"$name $error"$'\n'* || $'\n'$output$'\n' == *$'\n'"$name absent"$'\n'* ]] || leak "$name should answer $error"
    done
}

# refused_call ERROR NAME ARGUMENT...: the call works or fails with another error outside, and returns ERROR inside.
refused_call() {
    local error=$1
    shift
    run "${CALL[@]}" "$@"
    [[ $output != "$error" ]] || report "control: answers the same outside: $*"
    prints "$error" in_jail "${CALL[@]}" "$@"
}

# bats test_tags=smoke
@test "calls that the table refuses fail whatever their arguments are" {
    answers EPERM io_uring_setup io_uring_enter io_uring_register userfaultfd bpf perf_event_open lookup_dcookie process_madvise kcmp \
        fanotify_init fanotify_mark lsm_set_self_attr \
        modify_ldt iopl ioperm mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick \
        mount_setattr name_to_handle_at open_by_handle_at setns pidfd_getfd add_key request_key keyctl kexec_load kexec_file_load \
        reboot swapon swapoff acct quotactl quotactl_fd init_module finit_module delete_module settimeofday clock_settime \
        clock_adjtime adjtimex syslog vhangup
    answers ENOSYS clone3 openat2 memfd_secret cachestat
}

@test "calls that an ordinary user can make outside are refused" {
    refused_call EPERM kcmp $$ $$ 2 0 0
    # Flag 0x200, FAN_REPORT_FID: without it the call needs a capability outside too.
    refused_call EPERM fanotify_init 0x200 0
    refused_call EPERM open_tree -100 =/ 0
    refused_call EPERM keyctl 0 -3 0
    refused_call EPERM add_key =user =planted =secret 6 -4
    refused_call EPERM name_to_handle_at -100 =/ 0 0 0
    refused_call EPERM io_uring_setup 1 0
    refused_call ENOSYS clone3 0 0
    refused_call ENOSYS openat2 -100 =/ 0 0
}

@test "new namespaces" {
    local flag
    for flag in 0x10000000 0x10020000; do refused_call EPERM unshare "$flag"; done
    for flag in 0x80 0x20000 0x2000000 0x4000000 0x8000000 0x10000000 0x20000000 0x40000000; do
        prints EPERM in_jail "${CALL[@]}" unshare "$flag"
        prints EPERM in_jail "${CALL[@]}" clone "$flag"
    done
    # Not a namespace: CLONE_FILES.
    prints ok in_jail "${CALL[@]}" unshare 0x400
}

# names_refused NETWORK OPTION...: three programs behind a shell, one of them twice, and with raw calls.
names_refused() {
    local program
    run -3 --separate-stderr "$SBX_PROGRAM" --network "$@" -- \
        sh -c 'unshare --user true; unshare --net true; bwrap --ro-bind / / true; "$@"; exit 3' sh "${CALL[@]}" clone 0x10000000
    [[ $output == EPERM ]] || report "$stderr"
    for program in unshare bwrap "$(basename "$(readlink -f /usr/bin/python3)")"; do
        (($(grep -cF "agent-sandbox: $program was refused namespaces of its own; " <<<"$stderr") == 1)) || report "$program: $stderr"
    done
    [[ $stderr == *"set isolation.allow_nested_namespaces = true (less protection)"* ]] || report "$stderr"
    [[ $stderr != *"refused: namespaces"* ]] || report "said twice: $stderr"
    works "$SBX_PROGRAM" digest
    [[ $output == *"namespace bwrap: "*"isolation.allow_nested_namespaces = true"* ]] || report "the digest names no program"
    works "$SBX_PROGRAM" log last --denied
    [[ $output == *namespace*deny*"bwrap: the jail refuses namespaces of its own"* ]] || report "the log names no program"
}

@test "programs behind a shell that are refused namespaces are named once at the end, in the record and in the digest" {
    works unshare --user true
    works bwrap --ro-bind / / true
    names_refused filtered
    names_refused open
    names_refused isolated --backend bwrap
    git init -q
    names_refused proxied
    run --separate-stderr "$SBX_PROGRAM" --quiet -- sh -c 'unshare --user true'
    [[ $stderr != *"agent-sandbox:"* ]] || report "quiet: $stderr"
}

@test "programs that are refused namespaces are named with Landlock and firejail" {
    names_refused open --backend landlock
    names_refused filtered --backend landlock
    names_refused filtered --backend firejail
}

@test "no program is named that makes no namespace, or that may make them" {
    run --separate-stderr "$SBX_PROGRAM" -- sh -c 'env true; python3 -c "import threading; t = threading.Thread(target=print); t.start(); t.join()"'
    [[ $status == 0 && $stderr != *namespaces* ]] || report "$stderr"
    run --separate-stderr env AGENT_SANDBOX_ISOLATION_ALLOW_NESTED_NAMESPACES=true "$SBX_PROGRAM" -- sh -c 'unshare --user echo made'
    [[ $status == 0 && $output == made && $stderr != *"refused namespaces"* ]] || report "$stderr"
}

# The keeper refuses them. Without it the kernel must not let them pass.
@test "no namespace can be made when the process that refuses them was killed, or in a traced jail" {
    local supervisor
    mkfifo go
    "$SBX_PROGRAM" -- sh -c 'touch ready; read line <go; unshare --user true; echo $? >status; unshare --user --mount true; echo $? >>status' \
        >out 2>&1 3>&- &
    supervisor=$!
    CHILDREN+=("$supervisor")
    wait_until test -e ready
    has_keeper() { KEEPER=$(pgrep -P "$supervisor" -x asb-keeper); }
    wait_until has_keeper
    kill -KILL "$KEEPER"
    is_keeper_gone() { [[ ! -e /proc/$KEEPER || $(awk '/^State:/ { print $2 }' "/proc/$KEEPER/status" 2>/dev/null) == [ZX] ]]; }
    wait_until is_keeper_gone
    echo >go
    wait "$supervisor" || true
    [[ $(cat status) == $'1\n1' ]] || { cat out >&2; report "a namespace was made: $(cat status)"; }
    grep -q "unshare failed" out || { cat out >&2; report "should fail"; }
    fails "Operation not permitted" "$SBX_PROGRAM" --quiet --trace-syscalls -- unshare --user true
    fails "Operation not permitted" "$SBX_PROGRAM" --quiet --trace-files -- unshare --user true
}

@test "families of sockets" {
    local family
    # AX25, X25, NETBEUI, KEY, PACKET, RDS, CAN, TIPC, BLUETOOTH, ALG, NFC, VSOCK, KCM, QIPCRTR, SMC, XDP
    for family in 0 3 9 13 15 17 21 29 30 31 38 39 40 41 42 43 44 4294967298; do
        prints EAFNOSUPPORT in_jail "${CALL[@]}" socket "$family" 2 0
    done
    refused_call EPROTONOSUPPORT socket 16 3 15
    for family in 1 2 10; do prints ok in_jail "${CALL[@]}" socket "$family" 1 0; done
    prints ok in_jail "${CALL[@]}" socket 16 3 0
    prints EPERM in_jail "${CALL[@]}" socket 2 3 1
    prints EPERM in_jail "${CALL[@]}" socket 10 0x80003 1
}

@test "set-user-ID and set-group-ID bits can't be set by any call" {
    touch file
    mkdir directory
    local mode
    for mode in 04755 02755 06711; do
        refused_call EPERM fchmodat -100 =file "$mode"
        prints EPERM in_jail "${CALL[@]}" fchmodat2 -100 =file "$mode" 0
        refused_call EPERM mknodat -100 "=node$mode" "$((0100000 | mode))" 0
        refused_call EPERM openat -100 "=new$mode" 0101 "$mode"
    done
    chmod 0755 file
    fails "Operation not permitted" in_jail chmod u+s file
    fails "Operation not permitted" in_jail chmod g+s directory
    works in_jail chmod 1777 directory
    # Without O_CREAT the kernel ignores the fourth argument.
    prints ok in_jail "${CALL[@]}" openat -100 =file 0 04755
    # The kernel gives a new directory the bit of its parent directory.
    chmod 2775 directory
    works in_jail mkdir directory/below
}

@test "personalities" {
    refused_call EPERM personality 0x0400000
    prints ok in_jail "${CALL[@]}" personality 0x0040000
    prints ok in_jail "${CALL[@]}" personality 0xffffffff
    works in_jail setarch -R true
}

@test "characters can't be typed into the terminal" {
    prints EPERM in_jail "${CALL[@]}" ioctl 0 0x5412 =x
    prints EPERM in_jail "${CALL[@]}" ioctl 0 0x541c =x
    prints EPERM in_jail "${CALL[@]}" ioctl 0 $((0x5412 | 1 << 32)) =x
    # Another ioctl of terminals, TIOCGWINSZ, passes the filter.
    prints ENOTTY in_jail "${CALL[@]}" ioctl 0 0x5413 0 </dev/null
}

@test "settings lift what they name" {
    printf '[isolation]\nallow_nested_namespaces = true\nallow_perf = true\nallow_keyrings = true\nallow_ptrace = false\n' >"$BATS_TEST_TMPDIR/settings"
    mkdir -p "$HOME/.config/agent-sandbox"
    cp "$BATS_TEST_TMPDIR/settings" "$HOME/.config/agent-sandbox/config.toml"
    prints ok in_jail "${CALL[@]}" unshare 0x10000000
    prints ok in_jail "${CALL[@]}" keyctl 0 -3 0
    prints EPERM in_jail "${CALL[@]}" ptrace 0 0 0 0
    prints EPERM in_jail "${CALL[@]}" process_vm_readv 1 0 0 0 0 0
    works in_jail unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /tmp && touch /tmp/x'
    # A call that no setting allows stays refused.
    prints EPERM in_jail "${CALL[@]}" io_uring_setup 1 0
}

@test "why syscall agrees with the filter" {
    fails "refused with EPERM" "$SBX_PROGRAM" why syscall io_uring_setup
    fails "isolation.allow_perf = true" "$SBX_PROGRAM" why syscall perf_event_open
    works "$SBX_PROGRAM" why syscall read
    works "$SBX_PROGRAM" why syscall ptrace
    run "$SBX_PROGRAM" why syscall socket
    [[ $output == *EAFNOSUPPORT* ]] || report "should say the exceptions"
    refused 2 "did you mean ptrace?" "$SBX_PROGRAM" why syscall ptrcae
    run "$SBX_PROGRAM" why --json syscall bpf
    [[ $output == *'"allowed": false'* ]] || report "should be JSON"
}
