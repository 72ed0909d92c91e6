# SPDX-License-Identifier: MIT
# Launches with injected faults, and the checks after each of them.

# Records the system calls of a launch: CALLS holds "PROCESS CALL" for every system call until the jail exists.
start_fault_test() {
    start_differential_test
    ERRORS=$BATS_TEST_TMPDIR/errors
    CALLS=$BATS_TEST_TMPDIR/calls
    mkdir -p private
    echo secret | tee .env private/file >/dev/null
    JAIL=(--network isolated --slurm off --hide "$PROJECT/private")
    works in_jail true
    LISTING=$(home_listing)
    MOUNTS=$(mounts_of_host)
    run_traced -o "$BATS_TEST_TMPDIR/trace" -e trace=all
    [[ $STATUS == 0 ]] || { cat "$ERRORS" >&2; return 1; }
    # strace can't inject a fault into a call that it has no name for.
    sed -nE '/syscall_0x/d; s/^([0-9]+) +([a-z0-9_]+)\(.*/\1 \2/p' "$BATS_TEST_TMPDIR/trace" >"$CALLS"
    SUPERVISOR_PROCESS=$(head -n 1 "$CALLS" | cut -d' ' -f1)
    CHILD_PROCESS=$(awk '$2 == "pivot_root" { print $1; exit }' "$CALLS")
    mv "$PROJECT/ran" "$BATS_TEST_TMPDIR/ran"
}

# Without the numbers that the kernel assigns in order.
# Without the directories that the first firejail on a machine mounts for itself, perhaps in another shard.
mounts_of_host() { cut -d' ' -f3- /proc/self/mountinfo | grep -v ' /run/firejail/' | sort; }

# run_traced OPTION...: a launch under strace; its exit status is in STATUS.
run_traced() {
    STATUS=0
    timeout 60 strace -f -qq "$@" "$SBX_PROGRAM" --quiet --backend native "${JAIL[@]}" -- touch ran \
        >"$ERRORS" 2>&1 </dev/null 3>&- || STATUS=$?
}

# run_with CALL:FAULT
run_with() {
    rm -f "$PROJECT/ran"
    run_traced -o /dev/null -e "trace=${1%%:*}" -e "inject=$1"
}

# ---- Which calls -----------------------------------------------------------------------------------------------------

# Until it drops its privileges: after that it starts the command.
child_calls() { awk -v process="$CHILD_PROCESS" '$1 == process { print $2 } $1 == process && $2 == "seccomp" { exit }' "$CALLS"; }
supervisor_calls() { awk -v process="$SUPERVISOR_PROCESS" '$1 == process { print $2 }' "$CALLS"; }

other_calls() { awk -v process="$CHILD_PROCESS" '$1 != process { print $2 }' "$CALLS"; }

# Calls that only read or that manage memory are left out: a death at one of them leaves the same state as a death at the next call
# that changes something.
QUESTIONS='access|faccessat2?|f?stat|newfstatat|statx|f?statfs|readlink(at)?|get[a-z0-9_]+|uname|sysinfo|lseek|clock_[a-z_]+|p?poll|sched_getaffinity'
MEMORY='brk|mmap|munmap|mprotect|mremap|madvise'
START='execve|exit_group|arch_prctl|set_tid_address|set_robust_list|rseq|prlimit64'
calls_of_supervisor() { supervisor_calls | sort -u | grep -vxE "$START|$QUESTIONS|$MEMORY"; }
# Only calls that no other process makes: strace counts per call, and the N-th of another call could be made by another process. The
# search through /etc is begun by the child and finished by the supervisor, at a point that differs from launch to launch: so the
# calls of that search are left out here as well.
calls_of_child() { comm -23 <(child_calls | sort -u | grep -vxE "$QUESTIONS") <(other_calls | sort -u); }

# The highest count of this call in a single process.
count_of() { awk -v call="$1" '$2 == call { n[$1]++ } END { for (p in n) if (n[p] > most) most = n[p]; print most + 0 }' "$CALLS"; }
count_in_child() { child_calls | grep -cx "$1"; }
first_and_last() { printf '%s\n' 1 "${2:-$(count_of "$1")}" | sort -nu; }
sample() { # CALL COUNT
    local count step
    count=$(count_of "$1")
    step=$((count / $2 + 1))
    seq 2 "$step" "$count"
}

# ---- Checks ----------------------------------------------------------------------------------------------------------

expect_nothing_left() {
    [[ $(mounts_of_host) == "$MOUNTS" ]] || { echo "$1: mounts of the host changed:" >&2; diff <(echo "$MOUNTS") <(mounts_of_host) >&2; return 1; }
    wait_until no_process_left || { echo "$1: processes are left:" >&2; pgrep -u "$SBX_USER" -a "$OURS" >&2; return 1; }
}
# The kernel stores 15 characters of a name.
OURS='^agent-s|^asb-'
no_process_left() { ! pgrep -u "$SBX_USER" "$OURS" >/dev/null; }

# expect_failed WHAT TEXT: the launch failed in one line, and no command ran.
expect_failed() {
    [[ $STATUS == 125 ]] || { echo "$1: ended with $STATUS" >&2; cat "$ERRORS" >&2; return 1; }
    [[ ! -e $PROJECT/ran ]] || { echo "LEAK: $1: the command ran" >&2; return 1; }
    [[ $(wc -l <"$ERRORS") == 1 ]] && grep -qE "^agent-sandbox: .*($2)" "$ERRORS" ||
        { echo "$1: one line with '$2' should be said, and not:" >&2; cat "$ERRORS" >&2; return 1; }
    expect_nothing_left "$1"
}

expect_untouched() {
    rm -f "$PROJECT/ran"
    [[ $(home_listing) == "$LISTING" ]] || { diff <(echo "$LISTING") <(home_listing) >&2; return 1; }
}
