#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The tests kill or stop each process of a session, at each stage of it, with each backend: no process keeps running, nothing is
# lost in the project, nothing is left behind, and the message names the cause. tests/egress/process_faults.bats and
# tests/slurm/process_faults.bats do the same for the network and for Slurm. native_faults.bats kills at single system calls,
# phase_faults.bats between the phases of a session.

load helper
load process_faults

setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    mkdir -p src
    echo "int main;" >src/main.c
    echo secret >.env
    FAULT=(python3 "$SBX_STAGE/tests/jail/fault.py")
}
teardown() {
    end_test
    rm -rf "/tmp/agent-sandbox-u$(id -u)"
}

# The backend prints at each start what it does not enforce.
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }

# use BACKEND: with every option that it supports.
use() {
    JAIL=(--backend "$1" --network filtered --slurm off)
    [[ $1 == landlock || $1 == firejail ]] || JAIL+=(--trace-commands)
    remember_world
}

# cases_of BACKEND CASE...: all of them for native. The processes around a session are the same with each backend: of the others a sample.
cases_of() {
    local backend=$1
    shift
    if [[ $backend == native ]]; then printf '%s\n' "$@"; else SBX_SEED=$SBX_SEED$backend sampled 3 "$@"; fi
}

# The death of each process: the exit status of the session (7: it continues), and the message.
DEATHS="
supervisor  137
stage       137  the jail was killed from outside
builder     137  the jail was killed from outside
tracer      137  the process that traces it was ended
command     137  was ended by signal 9
gateway       7  the jail has no network from here on
keeper        7
"

# ---- While it runs -----------------------------------------------------------------------------------------------------

# kill_each BACKEND
kill_each() {
    local name status text chosen
    use "$1"
    chosen=$(cases_of "$1" supervisor stage builder tracer command gateway keeper)
    while read -r name status text; do
        grep -qx "$name" <<<"$chosen" || continue
        [[ $name != tracer || ${JAIL[*]} == *--trace* ]] || continue
        start_session
        need "$name"
        kill -KILL "$FOUND"
        soon is_dead "$FOUND"
        if ((status == 7)); then
            # The session continues: the command runs, and exits with its own status.
            [[ $name != gateway ]] || soon grep -qF "$text" "$BATS_TEST_TMPDIR/jail.out"
            need command
            let_go
        fi
        expect_end "$1: $name" "$status" "$text"
        expect_clean "$1: $name"
    done <<<"$DEATHS"
}

@test "each process of a native session is killed" { kill_each native; }
@test "each process of a session by bubblewrap is killed" { kill_each bwrap; }
@test "each process of a session by Landlock alone is killed" { kill_each landlock; }
@test "each process of a session by firejail is killed" { kill_each firejail; }

# On an open network a process outside makes the sockets. Without it `socket` fails; it never makes one in the host's namespace.
@test "an open session without its socket processes makes no Unix socket" {
    local backend name
    cat >make.py <<'PYTHON'
import socket
try:
    socket.socket(socket.AF_UNIX)
    print("made")
except OSError as error:
    print("none:", error.strerror)
PYTHON
    for backend in $(sampled 2 native bwrap); do
        JAIL=(--backend "$backend" --network open --quiet)
        remember_world
        for name in sockets keeper; do
            start_session 'python3 make.py >before; touch ready; until [ -e go ]; do sleep 0.02; done; python3 make.py >after; exit 7'
            prints made cat before
            need "$name"
            kill -KILL "$FOUND"
            soon is_dead "$FOUND"
            let_go
            expect_end "$backend: $name" 7 "the process that makes Unix sockets for the command was killed"
            [[ $(cat after) == "none: "* ]] || leak "$backend: $name: $(cat after)"
            rm before after
        done
    done
}

# ---- While it starts and ends ------------------------------------------------------------------------------------------

# The possible results of a session that got a signal while it started: the command's own status, no jail, or killed. The command
# never runs without its jail: it would find the secret.
PROBE='cat "$HOME/secret" 2>/dev/null && echo open; touch ran; exit 7'

# hit SIGNAL NUMBER DELAY: sends it to the NUMBER-th process of a launch, DELAY microseconds after the process started.
hit() {
    STATUS=0
    rm -f ran
    "${FAULT[@]}" "$2" "$1" "$3" "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c "$PROBE" \
        </dev/null >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>"$BATS_TEST_TMPDIR/hit" || STATUS=$?
    HIT=$(cat "$BATS_TEST_TMPDIR/hit")
    WHAT="$1 of process $2 ($HIT) after $3 us"
    rm -f ran
    [[ ! -s $BATS_TEST_TMPDIR/out ]] || { echo "LEAK: $WHAT: the command read what is hidden" >&2; return 1; }
    [[ $STATUS == @(7|125|137) ]] || { echo "$WHAT: ended with $STATUS" >&2; cat "$BATS_TEST_TMPDIR/err" >&2; return 1; }
    # A supervisor that was not killed itself prints why the launch failed.
    [[ $STATUS == 7 || $2 == 0 ]] || grep -qE '^agent-sandbox: .*(ended|killed|could not|cannot)' "$BATS_TEST_TMPDIR/err" || { echo "$WHAT: does not say why:" >&2; cat "$BATS_TEST_TMPDIR/err" >&2; return 1; }
}

# start_and_hit BACKEND: one process after the other, at several moments of its life.
start_and_hit() {
    local number delay
    echo secret >"$HOME/secret"
    use "$1"
    prints secret cat "$HOME/secret"
    for number in 0 1 2 3 4; do
        for delay in $(cases_of "$1" 0 1000 4000 12000); do
            hit KILL "$number" "$delay"
            # The first process and the one that builds the jail always exist.
            ((number > 1)) || [[ $HIT != nobody ]]
            soon nothing_runs_but_builders || { echo "$1: $WHAT: processes are left:" >&2; left_processes >&2; return 1; }
        done
        expect_clean_after_the_next "$1: $WHAT"
        hit STOP "$number" $((number * 1000))
        [[ $STATUS == 7 ]] || { echo "$1: $WHAT: ended with $STATUS" >&2; cat "$BATS_TEST_TMPDIR/err" >&2; return 1; }
    done
    expect_clean_after_the_next "$1"
}

# bubblewrap's own child waits for ever for a parent that was killed along with the supervisor. It runs nothing, and the next
# session kills it.
nothing_runs_but_builders() { ! left_processes | grep -vqE ' bwrap --args [0-9]+ -- [^ ]* inner-stage'; }

@test "a native session is hit while it starts" { start_and_hit native; }
@test "a session by bubblewrap is hit while it starts" { start_and_hit bwrap; }
@test "a session by Landlock alone is hit while it starts" { start_and_hit landlock; }
@test "a session by firejail is hit while it starts" { start_and_hit firejail; }

# A supervisor that is stopped while the command ends still has all of the cleanup to do.
@test "each process is killed while the session ends" {
    local backend name
    for backend in native $(sampled 3 bwrap landlock firejail); do
        use "$backend"
        for name in supervisor gateway keeper; do
            start_session
            need "$name"
            local victim=$FOUND
            need stage
            kill -STOP "$SUPERVISOR"
            let_go
            soon is_dead "$FOUND"
            kill -KILL "$victim"
            # A keeper that is dismissed and killed at the same moment leaves the trash to the next session.
            soon is_dead "$victim"
            [[ $name == supervisor ]] || kill -CONT "$SUPERVISOR"
            expect_end "$backend: $name" "$([[ $name == supervisor ]] && echo 137 || echo 7)"
            expect_clean "$backend: $name"
        done
    done
}

# ---- Stopped helpers ---------------------------------------------------------------------------------------------------

session_id() { sandbox ps --ids; }

# Stops each process, ends the session with `stop --now`, and checks that nothing is left. Then the same again, but continues the
# process instead.
stop_each() {
    local name
    use "$1"
    for name in $(cases_of "$1" stage builder keeper gateway tracer); do
        [[ $name != tracer || ${JAIL[*]} == *--trace* ]] || continue
        start_session
        need "$name"
        kill -STOP "$FOUND"
        soon is_stopped "$FOUND"
        works sandbox stop --now "$(session_id)"
        [[ $output == *"has ended" ]] || report "$1: $name: says so"
        expect_end "$1: $name" 143 "stopped, as 'agent-sandbox stop' asked"
        expect_clean "$1: $name"
        start_session
        need "$name"
        kill -STOP "$FOUND"
        soon is_stopped "$FOUND"
        kill -CONT "$FOUND"
        let_go
        expect_end "$1: $name, continued" 7
        expect_clean "$1: $name, continued"
    done
}

@test "helpers of a native session are stopped" { stop_each native; }
@test "helpers of a session by bubblewrap are stopped" { stop_each bwrap; }
@test "helpers of a session by Landlock alone are stopped" { stop_each landlock; }
@test "helpers of a session by firejail are stopped" { stop_each firejail; }

# Only the supervisor could answer: `stop` prints that it does not, and `stop --now` does not send a request.
@test "a supervisor that is stopped can be ended" {
    local backend
    for backend in native landlock; do
        use "$backend"
        start_session
        kill -STOP "$SUPERVISOR"
        soon is_stopped "$SUPERVISOR"
        if [[ $backend == native ]]; then
            refused 1 "does not answer" sandbox stop "$(session_id)"
            [[ $stderr == *"stop --now"* ]] || report "says what helps"
            need command
        fi
        works sandbox stop --now "$(session_id)"
        expect_end "$backend" 137
        expect_clean "$backend"
    done
}

# No process receives the command's end, and the program that built the jail does not exit. `stop --now` must still end the session.
@test "stop ends a stopped builder after the command has ended" {
    local backend
    for backend in $(sampled 2 bwrap landlock firejail); do
        use "$backend"
        start_session
        need stage
        local stage=$FOUND
        need builder
        kill -STOP "$FOUND"
        let_go
        soon is_dead "$stage"
        is_alive "$SUPERVISOR"
        works sandbox stop --now "$(session_id)"
        soon is_dead "$SUPERVISOR"
        end_of_jail
        expect_clean "$backend"
    done
}

# ---- All processes at once ---------------------------------------------------------------------------------------------

# all_of_ours: every process of the session except the command and its descendants.
all_of_ours() {
    local name
    for name in supervisor builder stage keeper gateway tracer; do process "$name"; done | sort -un
}
shuffled() { local word; for word in "$@"; do echo "$RANDOM $word"; done | sort -n | cut -d' ' -f2; }

@test "all processes of ours are killed at once, in any order: nothing runs on" {
    local backend processes
    RANDOM=$SBX_SEED
    for backend in native $(sampled 2 bwrap firejail); do
        use "$backend"
        for _ in 1 2 3 4; do
            start_session
            mapfile -t processes < <(shuffled $(all_of_ours))
            ((${#processes[@]} >= 4))
            kill -KILL "${processes[@]}"
            expect_end "$backend: ${processes[*]}" 137
            soon nothing_runs || { echo "$backend: ${processes[*]}: these run on:" >&2; left_processes >&2; return 1; }
            expect_clean_after_the_next "$backend: ${processes[*]}"
        done
    done
}

# Without a pid namespace, a process that left the command may then stay alive. It stays confined.
@test "by Landlock alone, a process that outlives all of ours stays confined" {
    local processes
    RANDOM=$SBX_SEED
    echo secret >"$HOME/secret"
    start_listener "$HOME/service"
    use landlock
    cat >look.sh <<'LOOK'
until [ -e look ]; do sleep 0.02; done
{ cat "$HOME/secret"; python3 "$1" "$HOME/service"; echo new >"$HOME/new"; kill -KILL "$2"; } >seen 2>&1
touch looked
LOOK
    start_session "setsid sh look.sh ${CONNECT[1]} $$ & touch ready; sleep $MARK"
    mapfile -t processes < <(shuffled $(all_of_ours))
    ((${#processes[@]} >= 4))
    kill -KILL "${processes[@]}"
    expect_end landlock 137
    # The control: outside all of it works.
    prints secret cat "$HOME/secret"
    works "${CONNECT[@]}" "$HOME/service"
    local greeting=$output
    [[ -n $greeting ]]
    touch look
    # The supervisor stops the remaining processes of a jail before it kills them (session/guard/orphans.cc), and may be killed between
    # the two steps. Then the process would stay stopped and report nothing.
    pkill -CONT -u "$SBX_USER" -f '^sh look\.sh' || true
    soon is_over
    pkill -KILL -u "$SBX_USER" -xf "sleep $MARK" || true
    if [[ -e looked ]]; then
        [[ $(grep -c . seen) -ge 3 ]]
        run cat seen
        [[ $output != *secret$'\n'* && $output != *"$greeting"* && ! -e $HOME/new ]] || leak "nothing may be open to it"
    fi
    rm -f look looked seen look.sh
    expect_clean_after_the_next landlock
}
is_over() { [[ -e looked ]] || ! pgrep -u "$SBX_USER" -f "sh look.sh" >/dev/null; }

@test "a signal to the whole process group ends the session" {
    local backend signal
    for backend in native $(sampled 3 bwrap landlock firejail); do
        use "$backend"
        for signal in HUP TERM KILL; do
            rm -f go ready
            setsid "${ATTENTIVE[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c "$WAITS" </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
            SUPERVISOR=$!
            CHILDREN+=("$SUPERVISOR")
            soon test -e ready
            kill "-$signal" -- "-$SUPERVISOR"
            expect_end "$backend: $signal" $((128 + $(kill -l "$signal")))
            expect_clean "$backend: $signal"
        done
    done
}

@test "a closed terminal ends the session" {
    local backend server=sbx-$SBX_TAG-$BATS_TEST_NUMBER
    for backend in native $(sampled 3 bwrap landlock firejail); do
        use "$backend"
        rm -f go ready
        tmux -L "$server" -f /dev/null new-session -d -x 80 -y 24 "$SBX_PROGRAM --quiet ${JAIL[*]} -- sh -c '$WAITS'" 3>&-
        soon test -e ready
        SUPERVISOR=$(pgrep -u "$SBX_USER" -o -f "^$SBX_PROGRAM")
        need keeper
        tmux -L "$server" kill-server
        soon is_dead "$SUPERVISOR"
        expect_clean "$backend"
    done
}

# ---- Files that a session and its keeper leave -------------------------------------------------------------------------

places() { find /tmp -maxdepth 1 -user "$SBX_USER" -name 'agent-sandbox-[0-9a-f]*'; }

@test "a session is killed together with its keeper: the next one cleans up, and leaves running sessions alone" {
    local backend living
    for backend in landlock firejail; do
        use "$backend"
        start_session
        living=$(places)
        [[ -d $living ]]
        local first=$SUPERVISOR
        start_session
        need keeper
        kill -KILL "$FOUND" "$SUPERVISOR"
        expect_end "$backend" 137
        # The control: there is something to remove.
        [[ $(places | wc -l) == 2 ]]
        works in_jail true
        soon is_only_place "$living"
        SUPERVISOR=$first
        let_go
        expect_end "$backend: the other one" 7
        expect_clean_after_the_next "$backend"
    done
}
is_only_place() { [[ $(places) == "$1" ]]; }

@test "placeholders of a session that was killed with its keeper are gone after the next start" {
    local backend
    for backend in $(sampled 2 native bwrap); do
        use "$backend"
        start_session
        need keeper
        kill -KILL "$FOUND" "$SUPERVISOR"
        expect_end "$backend" 137
        soon nothing_runs
        # The control: they exist.
        [[ $(world) != "$WORLD" && -d .vscode ]]
        expect_clean_after_the_next "$backend"
    done
}
