#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The child that becomes the jail starts before the plan is made (src/backends/native/early_child.cc). A launch that can't use it
# makes another one, and a launch that fails leaves none.

load helper
load process_faults

setup() {
    start_test
    TRACE=$BATS_TEST_TMPDIR/trace
}
teardown() { end_test; }

in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }

# The processors that a command may use, inside and outside.
allowed() { grep Cpus_allowed_list /proc/self/status; }
allowed_inside() { "${@}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- grep Cpus_allowed_list /proc/self/status; }

# It starts on another processor than the supervisor.
@test "a command may use the processors of its caller, all of them or one" {
    local round first
    first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
    for round in {1..20}; do
        prints "$(allowed)" allowed_inside env
        prints "$(taskset -c "$first" grep Cpus_allowed_list /proc/self/status)" allowed_inside taskset -c "$first"
    done
}

# calls OPTION...: the calls of clone3 that the supervisor makes in a launch, with their flags.
calls() {
    strace -qq -o "$TRACE" -e trace=clone3 "$SBX_PROGRAM" --quiet "$@" -- true
    grep -o 'flags=[A-Z_|]*' "$TRACE"
}

@test "one process is made for the jail, and becomes it" {
    prints "flags=CLONE_NEWNS|CLONE_NEWUTS|CLONE_NEWUSER|CLONE_NEWPID" calls
    prints "flags=CLONE_NEWNS|CLONE_NEWUTS|CLONE_NEWUSER|CLONE_NEWPID" calls --network open
    prints "flags=CLONE_NEWNS|CLONE_NEWUTS|CLONE_NEWUSER|CLONE_NEWPID" calls --network isolated
}

# shared OPTION...: of the kinds that a plan may leave out, those that the jail shares with the caller.
shared() {
    local kind
    for kind in net ipc; do
        [[ $("$SBX_PROGRAM" --quiet "$@" -- readlink "/proc/self/ns/$kind" 2>/dev/null) != "$(readlink "/proc/self/ns/$kind")" ]] || echo "$kind"
    done
}

@test "the jail has the namespaces that its settings ask for, and no other" {
    prints "" shared
    prints net shared --network open
    export AGENT_SANDBOX_ISOLATION_PRIVATE_IPC=false
    prints ipc shared
    prints $'net\nipc' shared --network open
}

# stop_before_launch: starts a session, and stops the supervisor when the plan is made. EARLY is the child.
stop_before_launch() {
    strace -qq -o "$TRACE" -e trace=prctl,clone3 -e inject=prctl:signal=STOP:when=1 "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'touch ran; exit 7' \
        </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    STRACE=$!
    CHILDREN+=("$STRACE")
    soon stops || { cat "$TRACE" "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    SUPERVISOR=$(pgrep -P "$STRACE")
    EARLY=$(awk '/clone3.*CLONE_NEWUSER/ { print $NF; exit }' "$TRACE")
    is_alive "$EARLY"
}
stops() { grep -q 'stopped by SIGSTOP' "$TRACE"; }

ends_with() {
    kill -CONT "$SUPERVISOR" 2>/dev/null || true
    STATUS=0
    wait "$STRACE" || STATUS=$?
    ((STATUS == $1)) || report "ended with $STATUS: $(cat "$BATS_TEST_TMPDIR/jail.out")"
}

@test "if it is killed before its work comes, the launch makes another child, and the command runs" {
    JAIL=(--quiet)
    stop_before_launch
    kill -KILL "$EARLY"
    soon is_dead "$EARLY"
    ends_with 7
    [[ -e ran ]]
    soon nothing_runs
}

# As the keeper of a killed session does with its placeholders.
@test "if a planned directory disappears before the launch, the launch begins again" {
    JAIL=(--quiet)
    mkdir -p .vscode
    echo '{}' >.vscode/tasks.json
    stop_before_launch
    rm -r .vscode
    ends_with 7
    [[ -e ran ]]
    soon nothing_runs
}

@test "if the supervisor is killed before its work comes, it ends" {
    stop_before_launch
    kill -KILL "$SUPERVISOR"
    soon is_dead "$EARLY" || report "the child lives"
    [[ ! -e ran ]]
    soon nothing_runs
}

@test "a launch that fails, or that takes another backend, leaves none" {
    refused 125 "/nowhere" "$SBX_PROGRAM" --project /nowhere -- true
    soon nothing_runs || report "a project that is not there leaves a process"
    mkdir -p "$HOME/.config/agent-sandbox"
    echo '[network' >"$HOME/.config/agent-sandbox/config.toml"
    refused 125 "config.toml" in_jail true
    soon nothing_runs || report "broken settings leave a process"
    rm "$HOME/.config/agent-sandbox/config.toml"
    local backend
    for backend in bwrap landlock; do
        JAIL=(--backend "$backend")
        run in_jail sh -c 'exit 7'
        ((status == 7)) || report "$backend"
        soon nothing_runs || report "$backend leaves a process"
    done
}
