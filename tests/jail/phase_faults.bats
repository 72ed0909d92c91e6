#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Faults between the phases of a session (src/session/session.cc): prepare, launch, serve, wind up. strace stops the supervisor at
# the first system call of a phase. Then the test kills the supervisor or a helper, and lets the others continue: the command does
# not run after the fault, the message names the cause, and nothing is left behind.

load helper
load process_faults

setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    echo secret >.env
    TRACE=$BATS_TEST_TMPDIR/trace
}
teardown() {
    # A test that failed may leave stopped processes of its session.
    continue_all
    end_test
    rm -rf "/tmp/agent-sandbox-u$(id -u)"
}

in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"; }

# ---- Boundaries ------------------------------------------------------------------------------------------------------

# The call after which each phase has ended:
#   prepare   launch begins: an orphan of the jail becomes a child of the supervisor
#   launch    serve begins: the first wait for events, after the last helper, the keeper, was started
#   serve     wind up begins to remove: the first placeholder is renamed
POLL=ppoll # the only one that newer architectures have
[[ $(uname -m) != x86_64 ]] || POLL=poll
declare -gA ENDING_CALL=([prepare]=prctl [launch]=$POLL [serve]=renameat2)
declare -gA ENDING_TEXT=([prepare]=PR_SET_CHILD_SUBREAPER [launch]=POLLIN [serve]=RENAME_NOREPLACE)
TRACED=execve,prctl,$POLL,renameat2,clone,clone3,vfork

# number_of PHASE: which of the supervisor's calls of this name it is, in TRACE.
number_of() {
    awk -v call="${ENDING_CALL[$1]}(" -v text="${ENDING_TEXT[$1]}" '
        NR == 1 { supervisor = $1 }
        $1 == supervisor && index($2, call) == 1 { number++; if (index($0, text)) { print number; exit } }' "$TRACE"
}

# run_traced OPTION...: a session whose command shows that it ran.
run_traced() {
    rm -f ran
    strace -f -qq -o "$TRACE" -e "trace=$TRACED" "$@" "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c 'touch ran; exit 7' \
        </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&-
}

# use OPTION...: finds the boundaries in a session without a fault.
use() {
    local phase
    JAIL=(--slurm off "$@")
    remember_world
    run_traced || (($? == 7))
    [[ -e ran ]]
    rm ran
    soon nothing_runs
    declare -gA NUMBER=()
    for phase in prepare launch serve; do
        NUMBER[$phase]=$(number_of "$phase")
        ((NUMBER[$phase] > 0)) || { echo "no end of $phase" >&2; return 1; }
    done
}

# stop_after PHASE: starts a session that is stopped there; SUPERVISOR is its process, STRACE the one to wait for.
stop_after() {
    : >"$TRACE"
    run_traced -e "inject=${ENDING_CALL[$1]}:signal=STOP:when=${NUMBER[$1]}" &
    STRACE=$!
    CHILDREN+=("$STRACE")
    soon is_stopped_there || { echo "it does not stop after $1:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    SUPERVISOR=$(awk '{ print $1; exit }' "$TRACE")
}
is_stopped_there() { awk 'NR == 1 { supervisor = $1 } $1 == supervisor && /stopped by SIGSTOP/ { found = 1 } END { exit !found }' "$TRACE"; }

# strace counts the calls of each process: another one may have been stopped at its own call with this number.
continue_others() {
    local process
    for process in $(pgrep -u "$SBX_USER" '^(agent-s|asb-|bwrap|sh$)'); do
        [[ $process == "${SUPERVISOR:-}" ]] || kill -CONT "$process" 2>/dev/null || true
    done
}
continue_all() { SUPERVISOR='' continue_others; }

# The last process that the supervisor forked before it waits for events.
keeper() {
    awk -v supervisor="$SUPERVISOR" '
        $1 == supervisor && /clone/ && / = [0-9]+$/ { last = $NF }
        $1 == supervisor && /poll\(.*POLLIN/ { exit }
        END { print last }' "$TRACE"
}

# kill_it PROCESS: and lets all others continue until the session has ended.
kill_it() {
    is_alive "$1" || { echo "${JAIL[*]}: no process '$1'" >&2; return 1; }
    kill -KILL "$1"
    soon is_dead "$1"
    soon continues_to_end
    STATUS=0
    wait "$STRACE" || STATUS=$?
}
continues_to_end() {
    continue_all
    is_dead "$STRACE"
}

# expect STATUS RAN [ENDING_TEXT]: RAN is whether the command ran.
expect() {
    local ran=no
    [[ ! -e ran ]] || ran=ran
    rm -f ran
    [[ $STATUS == "$1" && $ran == "$2" ]] || { echo "${JAIL[*]}: ended with $STATUS, $ran:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    [[ -z ${3:-} ]] || grep -qF -- "$3" "$BATS_TEST_TMPDIR/jail.out" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}

# ---- After prepare ---------------------------------------------------------------------------------------------------

@test "the supervisor is killed after prepare: nothing runs, and the next session removes what was made" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use --backend "$backend" --network filtered
        stop_after prepare
        # The control: there is something to remove.
        [[ -d .vscode ]]
        kill_it "$SUPERVISOR"
        expect 137 no
        soon nothing_runs
        expect_clean_after_the_next "$backend"
    done
}

makes_sockets() {
    continue_others
    has_process sockets
}

# The only helper at that time makes Unix sockets. If it was ready before, the command runs and gets no socket.
@test "a helper is killed after prepare: the message names it, and nothing is left" {
    use --backend native --network open
    stop_after prepare
    soon makes_sockets
    kill_it "$(process sockets)"
    [[ $STATUS == 7 ]] || expect 125 no
    rm -f ran
    grep -qF "Unix sockets" "$BATS_TEST_TMPDIR/jail.out" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    expect_clean native
}

# ---- After launch ----------------------------------------------------------------------------------------------------

@test "the supervisor is killed after launch: the jail dies before the command runs, and the next session removes what was made" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use --backend "$backend" --network filtered
        stop_after launch
        is_alive "$(keeper)"
        kill_it "$SUPERVISOR"
        expect 137 no
        expect_clean_after_the_next "$backend"
    done
}

@test "the keeper is killed after launch: nothing runs, nothing is left" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use --backend "$backend" --network filtered
        stop_after launch
        kill_it "$(keeper)"
        expect 125 no "the process that looks after the session was killed; nothing was run"
        expect_clean "$backend"
    done
}

# ---- After serve -----------------------------------------------------------------------------------------------------

@test "the supervisor is killed after serve: the keeper removes what was made" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use --backend "$backend" --network filtered
        stop_after serve
        [[ -d .vscode ]]
        kill_it "$SUPERVISOR"
        expect 137 ran
        expect_clean "$backend"
    done
}

# The gateway has ended by itself.
@test "the keeper is killed after serve: the session ends as it would, and nothing is left" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use --backend "$backend" --network filtered
        stop_after serve
        kill_it "$(keeper)"
        expect 7 ran
        expect_clean "$backend"
    done
}
