#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The record of a traced jail; without tracing nothing of it is recorded.

load helper
setup() { start_test; }
teardown() { end_test; }

RECORDS=.local/state/agent-sandbox/sessions
ATTACK=(python3 "$SBX_STAGE/tests/jail/trace_attacks.py")

record() { cat "$HOME/$RECORDS"/*.jsonl 2>/dev/null; }
forget() { rm -rf "${HOME:?}/$RECORDS"; }
lines_of() { record | grep "\"kind\":\"$1\"" || true; }

# tells KIND PATTERN...: one line of that kind matches all patterns.
tells() {
    local kind=$1 found pattern
    shift
    found=$(lines_of "$kind")
    for pattern; do found=$(grep -F -- "$pattern" <<<"$found" || true); done
    [[ -n $found ]] || { status=- output=$(record); report "should be recorded as $kind: $*"; }
}

tells_nothing() { # KIND [PATTERN]
    ! lines_of "$1" | grep -qF -- "${2:-}" || { status=- output=$(record); report "should not be recorded as $1: ${2:-}"; }
}

plant_project() {
    mkdir -p "$HOME/.ssh" "$HOME/data" .git
    echo key >"$HOME/.ssh/id_rsa"
    echo set >"$HOME/data/set"
    echo dear >"$HOME/diary"
    echo "TOKEN=secret" >.env
    git init -q . 2>/dev/null || mkdir -p .git
    [[ -e .git/config ]] || echo "[core]" >.git/config
}

@test "without a flag nothing is recorded, and no tracer runs" {
    plant_project
    works in_jail_sh 'cat ~/.ssh/id_rsa; cat .env; echo x >>.git/config; true'
    for kind in file command syscall; do tells_nothing "$kind"; done
    # Tracers of tests before this one may still be ending.
    has_no_tracer() { ! pgrep -u "$SBX_USER" asb-tracer; }
    wait_until has_no_tracer
    start_jail 'touch ready; sleep 20'
    has_no_tracer
}

@test "files that the jail hides, masks or protects are recorded with rule and change" {
    plant_project
    JAIL=(--trace-files --ro "$HOME/data")
    run in_jail_sh 'cat ~/.ssh/id_rsa; cat ~/diary; cat .env; echo x >>.git/config; echo x >"$1/data/new"; cat /nowhere/at/all; cat "$2"; echo y >ok' \
        "$HOME" "$SBX_NEIGHBOUR_HOME/secret"
    tells file "\"path\":\"$HOME/.ssh/id_rsa\"" '"access":"read"' '"cause":"hidden"' '"reason":'
    tells file "\"path\":\"$HOME/diary\"" '"access":"read"' '"cause":"hidden"' '"change":"--ro '
    tells file "\"path\":\"$PROJECT/.env\"" '"cause":"masked"' '"change":"project.unmask = [\".env\"]"'
    tells file "\"path\":\"$PROJECT/.git/config\"" '"access":"write"' '"cause":"readonly"' '"rule":"readonly '
    tells file "\"path\":\"$HOME/data/new\"" '"access":"write"' '"cause":"readonly"' '"origin":'
    tells file "\"path\":\"$SBX_NEIGHBOUR_HOME/secret\"" '"cause":"hidden"'
    tells_nothing file /nowhere
    tells_nothing file "$PROJECT/ok"
    ! lines_of file | grep -E "\"change\":\"--r[ow] ($HOME|/home|/)\"" || report "too wide a change"
    # Tracing does not change the work itself.
    grep -q y ok
}

@test "bubblewrap: files that the jail hides, masks or protects are recorded with rule and change" {
    plant_project
    JAIL=(--backend bwrap --trace-files --trace-commands --trace-syscalls)
    run in_jail_sh 'cat ~/.ssh/id_rsa; exit 5'
    ((status == 5))
    tells file "\"path\":\"$HOME/.ssh/id_rsa\"" '"cause":"hidden"'
    tells command '"cat"' '"status":1'
}

@test "a path is recorded once" {
    plant_project
    JAIL=(--trace-files)
    run in_jail_sh 'for i in 1 2 3 4 5; do cat ~/.ssh/id_rsa; done'
    [[ $(lines_of file | grep -c '\.ssh/id_rsa"') == 1 ]]
}

@test "commands are recorded with arguments, directory and status, and without secrets" {
    mkdir below
    JAIL=(--trace-commands)
    run in_jail_sh 'cd below; sh -c "exit 3"; env --unset=X true --token hunter2 plain; /bin/sh -c "kill -TERM \$\$"; exec false'
    tells command '"command":["sh","-c","exit 3"]' "\"directory\":\"$PROJECT/below\"" '"status":3' '"duration_ms":'
    tells command '"true"' '"plain"' '"status":0'
    tells command '"signal":15'
    tells command '"replaced":true'
    tells command '"command":["false"]' '"status":1'
    ! record | grep -q hunter2 || leak "the password is in the record"
    tells_nothing file
}

@test "a command that still runs has no status" {
    JAIL=(--trace-commands)
    works in_jail_sh 'sleep 300 & until grep -qx sleep "/proc/$!/comm"; do :; done; exit 0'
    tells command '"sleep","300"'
    ! lines_of command | grep '"300"' | grep '"status"' || report "a status of a command that did not end"
}

@test "five hundred short commands are all recorded" {
    JAIL=(--trace-commands --trace-files --trace-syscalls)
    works in_jail_sh 'i=0; while [ $i -lt 500 ]; do /bin/echo $i >/dev/null; i=$((i + 1)); done'
    [[ $(lines_of command | grep -c '"/bin/echo"') == 500 ]]
    [[ $(lines_of command | grep '"/bin/echo"' | grep -c '"status":0') == 500 ]]
}

@test "refused system calls are recorded and stay refused" {
    local calls untraced traced
    calls=$(printf '%s 0 0 0 0 0 0\n' io_uring_setup userfaultfd bpf perf_event_open kcmp mount umount2 pivot_root chroot open_tree \
        move_mount fsopen fsmount name_to_handle_at open_by_handle_at setns pidfd_getfd add_key request_key keyctl kexec_load \
        reboot swapon acct quotactl init_module settimeofday clock_settime adjtimex syslog vhangup clone3 openat2
    printf '%s\n' 'unshare 0x10000000' 'socket 17 3 0' 'socket 2 3 0' 'socket 16 3 9' 'chmod =x 04755' 'personality 0x0400000')
    untraced=$(in_jail "${CALL[@]}" <<<"$calls")
    tells_nothing syscall
    JAIL=(--trace-syscalls --trace-files --trace-commands)
    traced=$(in_jail "${CALL[@]}" <<<"$calls")
    [[ $traced == "$untraced" ]] || { diff <(echo "$untraced") <(echo "$traced") >&2; false; }
    JAIL=(--trace-syscalls)
    [[ $(in_jail "${CALL[@]}" <<<"$calls") == "$untraced" ]]
    tells syscall '"name":"mount"' '"error":"EPERM"' '"change":"isolation.allow_nested_namespaces = true"' '"count":1'
    tells syscall '"name":"socket"' '"error":"EPROTONOSUPPORT"' 'NETLINK'
    tells syscall '"name":"socket"' '"error":"EAFNOSUPPORT"'
    tells_nothing syscall '"clone3"'
}

# The filter refuses the mode; the tracer must not allow it.
@test "set-user-ID bits are refused in a traced jail too" {
    JAIL=(--trace-files --trace-syscalls --trace-commands)
    works cp /bin/true "$PROJECT/tool"
    works chmod 4755 "$PROJECT/tool"
    works chmod 0755 "$PROJECT/tool"
    fails "not permitted" in_jail chmod 4755 tool
    [[ $(stat -c %a tool) == 755 ]]
    tells syscall chmod '"error":"EPERM"' 'set-user-ID'
}

@test "the command has no descriptor of the sandbox's" {
    JAIL=(--trace-files --trace-commands --trace-syscalls)
    prints $'0\n1\n2\n3' in_jail_sh 'ls /proc/self/fd </dev/null 3>&-'
}

@test "the seccomp filter applies to pid 1 of a traced jail" {
    prints $'Seccomp:\t2' in_jail grep ^Seccomp: /proc/1/status
    JAIL=(--trace-syscalls)
    prints $'Seccomp:\t2' in_jail grep ^Seccomp: /proc/1/status
}

@test "the exit status and signals pass through a traced jail" {
    JAIL=(--trace-files --trace-commands --trace-syscalls)
    run in_jail_sh 'exit 7'
    ((status == 7))
    run in_jail_sh 'kill -SEGV $$'
    ((status == 139))
    refused 127 "was not found" in_jail no-such-command
}

@test "when the tracer is killed the jail ends, with a message" {
    JAIL=(--trace-files)
    start_jail 'touch ready; while :; do cat /etc/hostname >/dev/null 2>&1; done; touch survived'
    # One of a test before this may still be ending.
    kill -KILL "$(pgrep -P "$SUPERVISOR" -x asb-tracer)"
    local code=0
    wait "$SUPERVISOR" || code=$?
    ((code == 137))
    grep -q "the process that traces it was ended" "$BATS_TEST_TMPDIR/jail.out"
    [[ ! -e survived ]]
    wait_until no_jail_left || { ps -u "$SBX_USER" -o pid,ppid,stat,comm,args >&2; false; }
}
no_jail_left() { ! pgrep -u "$SBX_USER" '^asb-' >/dev/null; }

@test "a jail in a traced jail can't be traced itself" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[isolation]\nallow_nested_namespaces = true\n' >"$HOME/.config/agent-sandbox/config.toml"
    JAIL=(--trace-commands)
    run in_jail "$SBX_PROGRAM" --quiet --trace-commands --network isolated -- true
    ((status == 125)) && [[ $output == *"traced"* ]] || report "should say why"
    works in_jail "$SBX_PROGRAM" --quiet --network isolated -- true
}

@test "tracing with Landlock alone is refused before the command runs" {
    JAIL=(--backend landlock --trace-commands)
    run in_jail touch ran
    ((status != 0)) && [[ $output == *"can't be traced"*"--trace-commands"* ]] || report "should be refused"
    [[ ! -e ran ]] || leak "the command ran"
}

@test "hostile programs can't stop or mislead the tracer" {
    JAIL=(--trace-files --trace-commands --trace-syscalls)
    prints lives in_jail "${ATTACK[@]}" pointers
    prints lives in_jail "${ATTACK[@]}" memory
    prints lives in_jail "${ATTACK[@]}" killed
    works in_jail "${ATTACK[@]}" words
    # 64 words of 256 bytes at most.
    [[ $(lines_of command | awk '{ if (length > most) most = length } END { print most + 0 }') -lt 40000 ]]
}

@test "an exec that fails because of its arguments is not recorded" {
    JAIL=(--trace-commands)
    prints lives in_jail "${ATTACK[@]}" faked
    tells_nothing command /bin/true
    tells command '"faked"' '"status":0'
    ! lines_of command | grep faked | grep replaced || report "the replaced command is recorded"
    # The control: a successful one is recorded.
    works in_jail_sh 'exec /bin/true'
    tells command '"/bin/true"' '"status":0'
}

# Threat: a signal can interrupt a call that waits for the tracer. If exit_group were such a call, it would return, and the C
# library would abort. A shell whose children end while it exits is enough.
@test "traced programs keep their exit status while signals arrive" {
    local one="for i in 1 2 3 4; do (cat /etc/passwd >/dev/null; ls / >/dev/null) & done; cat nofile; "
    one+="test -e /etc/hosts && cd /tmp && cd / && : >/dev/null && exit 0 || exit 7"
    JAIL=(--trace-commands)
    run in_jail_sh 'end=$(($(date +%s) + 10)) runs=0
        while [ $runs -lt 20 ] || [ $runs -lt 200 -a "$(date +%s)" -lt $end ]; do
            /bin/sh -c "$1" 2>/dev/null || echo "ended with $?"
            runs=$((runs + 1))
        done
        echo over' "$one"
    [[ $output == over ]] || report "every run should end with 0"
    # No process aborted (processes that still ran at the end were killed), and every ended process has a status.
    tells command '"cat","nofile"' '"status":1'
    tells_nothing command '"signal":5'
    tells_nothing command '"signal":6'
    ! lines_of command | grep '"nofile"' | grep -v '"status":1' || report "another status"
}

@test "the plan lists what is traced" {
    [[ $("$SBX_PROGRAM" --dry-run --trace-files --trace-syscalls -- true) == *"traced"*"refused system calls"* ]]
    [[ $("$SBX_PROGRAM" --dry-run -- true) != *"traced "* ]]
}

@test "a long record continues in parts, and its chain verifies" {
    export AGENT_SANDBOX_AUDIT_SIZE=100K AGENT_SANDBOX_AUDIT_CHAIN=true
    JAIL=(--trace-commands)
    works in_jail_sh 'i=0; while [ $i -lt 300 ]; do /bin/echo $i >/dev/null; i=$((i + 1)); done'
    [[ -n $(compgen -G "$HOME/$RECORDS/*.3.jsonl") ]]
    works "$SBX_PROGRAM" log --verify
    [[ $output == intact*"head of tracer: 30"* ]] || report "the chain should hold"
}
