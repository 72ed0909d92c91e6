#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `exec`: one more command in a running session. It has every restriction of the session, and it ends with its client, with its
# session and with the machine's faults. tests/jail/exec_terminal.bats has the terminal.

load helper

setup() {
    start_test
    OUT=$BATS_TEST_TMPDIR
    MARK=1000.$BATS_ROOT_PID
}
teardown() { end_test; }

SLEEP='touch ready; exec sleep 1000'

sandbox() { "$SBX_PROGRAM" "$@"; }
inside() { sandbox exec -- "$@"; }
stage() { ps -o ppid= -p "$(pgrep -u "$SBX_USER" -xf "sleep 1000")" | tr -d ' '; }
runs() { pgrep -u "$SBX_USER" -xf "sleep $MARK" >/dev/null; }
runs_not() { ! runs; }
# start_client [OPTIONS] -- COMMAND: CLIENT is its process.
start_client() {
    "${ATTENTIVE[@]}" "$SBX_PROGRAM" exec "$@" </dev/null >"$OUT/client" 2>&1 3>&- &
    CLIENT=$!
    CHILDREN+=("$CLIENT")
}
end_of_client() {
    STATUS=0
    wait "$CLIENT" || STATUS=$?
}
# The backends that this machine has.
each_backend() {
    local backend
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        in_jail true >/dev/null 2>&1 && echo "$backend"
    done
}

# bats test_tags=smoke
@test "a command is added to a session, with its streams, status and directory, by every backend" {
    local backend
    mkdir sub
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        prints "$backend" inside sh -c 'echo "$AGENT_SANDBOX_BACKEND"'
        prints "$PROJECT" inside pwd
        prints "$PROJECT/sub" sandbox exec --cwd sub -- sh -c 'pwd; cd "$PWD"'
        [[ $(echo through | inside cat) == through ]] || report "$backend: standard input"
        [[ $(inside sh -c 'echo out; echo err >&2' 2>"$OUT/err") == out && $(cat "$OUT/err") == err ]] || report "$backend: two streams"
        run inside sh -c 'exit 7'
        ((status == 7)) || report "$backend: the status"
        run inside sh -c 'kill -TERM $$'
        ((status == 143)) || report "$backend: 128 and the signal"
        refused 127 "was not found in the jail" inside no-such-command
        touch plain
        refused 126 "start './plain' in the jail" inside ./plain
        refused 125 "enter nowhere in the jail" sandbox exec --cwd nowhere -- true
        works inside true
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "arguments of any bytes arrive, up to 48 KiB" {
    start_jail "$SLEEP"
    [[ $(inside printf '%s.' "" $'a\xffb' 'two words' $'\e[31m') == .$'a\xffb.two words.\e[31m.' ]]
    prints 40000 inside sh -c 'echo ${#1}' sh "$(printf 'x%.0s' {1..40000})"
    refused 125 "more than 48 KiB" inside true "$(printf 'x%.0s' {1..60000})"
    refused 125 "more than 48 KiB" inside true "$(printf 'x%.0s' {1..70000})"
}

@test "exec refuses what it can't do in one line" {
    refused 125 "no session is running" sandbox exec -- true
    start_jail "$SLEEP"
    refused 125 "there is no session" sandbox exec ffffffff -- true
    refused 125 "takes one session, and the command after --" sandbox exec "$(sandbox ps --ids)" true
    refused 125 "--network has no meaning for exec" sandbox exec --network open -- true
    refused 125 "is for the outside of a jail" in_jail /run/agent-sandbox/agent-sandbox exec -- true
    works sandbox exec "$(sandbox ps --ids)" -- true
}

@test "without a name exec takes the only session of this project" {
    start_jail "$SLEEP"
    mkdir "$HOME/other"
    (cd "$HOME/other" && exec "$SBX_PROGRAM" --quiet -- sh -c 'touch ready; exec sleep 1000') </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e "$HOME/other/ready"
    prints "$PROJECT" inside pwd
    cd "$HOME/other"
    prints "$HOME/other" inside pwd
    cd "$HOME"
    refused 125 "several sessions are running" inside pwd
}

# ---- What it may do ----------------------------------------------------------------------------------------------------

STATE='for name in NoNewPrivs Seccomp Seccomp_filters CapInh CapPrm CapEff CapBnd CapAmb Groups Uid Gid Umask; do
    grep "^$name:" /proc/self/status
done
cat /proc/self/limits /proc/self/cgroup
grep -h _ses /proc/keys | cut -d" " -f1 | sort
for name in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$name; done
ls /proc/self/fd | sort -n | head -n 3'

@test "an added command has the limits, filters, capabilities and namespaces of the session's own, by every backend" {
    local backend
    for backend in $(each_backend); do
        JAIL=(--backend "$backend" --limit open_files=500 --limit file_size=10M)
        start_jail "(umask 0022; $STATE) >own; $SLEEP"
        inside sh -c "(umask 0022; $STATE) >added"
        works diff own added
        [[ $(sh -c "$STATE" | grep NoNewPrivs) != $(grep NoNewPrivs own) ]] || report "control: it differs outside"
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "an added command sees and reaches no more than the session, by every backend" {
    local backend
    echo "hidden content" >"$HOME/secret"
    mkdir -p .git/hooks
    works cat "$HOME/secret"
    prints ok "${CALL[@]}" keyctl 0 -3 0 0 0
    works touch .git/hooks/pre-commit
    rm .git/hooks/pre-commit
    for backend in $(each_backend); do
        JAIL=(--backend "$backend" --network isolated)
        start_jail "$SLEEP"
        run inside cat "$HOME/secret"
        [[ $status != 0 && $output != *"hidden content"* ]] || report "$backend: a hidden file"
        run inside touch .git/hooks/pre-commit
        # Landlock alone does not hold protected paths (docs/backends.md).
        [[ $status != 0 || $backend == landlock ]] || report "$backend: a protected file"
        rm -f .git/hooks/pre-commit
        prints EPERM inside "${CALL[@]}" keyctl 0 -3 0 0 0
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "the descriptors of an added command are 0, 1 and 2, by every backend" {
    local backend
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        # 3 is the directory that ls itself opens.
        prints $'0\n1\n2\n3' inside ls /proc/self/fd
        kill "$SUPERVISOR"
        end_of_jail
    done
}

# Threat: a process of the jail that could send a frame to the stage would start a command with other descriptors, or answer for it.
@test "a process of the jail reaches neither the control socket nor the stage's descriptors, by every backend" {
    local backend socket
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        socket=$(ls -d "/tmp/agent-sandbox-u$(id -u)"/sessions/*/control)
        works "${ASK[@]}" "$socket" '{"do":"exec","command":["true"]}'
        [[ $output == *"has not the descriptors"* ]] || report "control: it answers outside"
        fails "connect: " inside "${ASK[@]}" "$socket" '{"do":"exec","command":["true"]}'
        # The parent of an added command is the stage.
        fails "ermission denied" inside sh -c 'ls /proc/$PPID/fd/'
        fails "ermission denied" inside sh -c 'cat /proc/$PPID/environ'
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "variables follow the rules of the session" {
    export PLAIN=plain MY_TOKEN=x
    start_jail "$SLEEP"
    prints ":plain" inside sh -c 'echo "$PLAIN:plain"'
    prints "plain" sandbox exec --env PLAIN -- sh -c 'echo "$PLAIN"'
    prints "other" sandbox exec --env PLAIN=other -- sh -c 'echo "$PLAIN"'
    refused 125 "MY_TOKEN" sandbox exec --env MY_TOKEN -- true
    [[ $stderr == *"start the session with --env MY_TOKEN"* ]]
    refused 125 "LD_PRELOAD" sandbox exec --env LD_PRELOAD=/tmp/x.so -- true
    refused 125 "is set by the sandbox itself" sandbox exec --env AGENT_SANDBOX_NETWORK=open -- true
    refused 125 "looks like" sandbox exec --env "PLAIN=ghp_0123456789abcdefghijABCDEFGHIJ012345" -- true
    refused 125 "the variable NOT_SET is not set here" sandbox exec --env NOT_SET -- true
    TERM=xterm-mono prints xterm-mono inside sh -c 'echo "$TERM"'
    kill "$SUPERVISOR"
    end_of_jail
    JAIL=(--env MY_TOKEN)
    start_jail "$SLEEP"
    prints "changed" sandbox exec --env MY_TOKEN=changed -- sh -c 'echo "$MY_TOKEN"'
}

# ---- Descriptors -------------------------------------------------------------------------------------------------------

@test "a directory and a device are refused as a standard stream, a file arrives as a pipe" {
    start_jail "$SLEEP"
    echo earlier >"$HOME/log"
    refuses() { sandbox exec -- cat <"$1"; }
    refused 125 "descriptor 0 is a directory, through which the command would leave the jail" refuses /
    [[ ! -r /dev/fuse ]] || refused 125 "descriptor 0 is not a pipe, a socket or a terminal" refuses /dev/fuse
    works inside cat </dev/null
    works inside cat /dev/null
    [[ $(inside cat <"$HOME/log") == earlier ]] || report "a file as input"
    inside sh -c 'echo later; cat /proc/self/fd/1 >stolen 2>/dev/null & wait $!; true' >>"$HOME/log"
    [[ $(cat "$HOME/log") == $'earlier\nlater' ]] || report "a file as output"
    ! grep -q earlier stolen || report "the file was read through its descriptor"
    # The rest of the input is the caller's.
    printf 'one\ntwo\n' >"$HOME/lines"
    [[ $({ inside head -c 4; cat; } <"$HOME/lines") == $'one\ntwo' ]] || report "the offset of the input"
}

@test "a stream that the caller has closed is /dev/null inside, as in a run" {
    local way
    start_jail "$SLEEP"
    without_input() { "$1" sh -c 'readlink /proc/self/fd/0; cat' <&-; }
    without_output() { "$1" sh -c 'echo lost; output=$(readlink /proc/$$/fd/1); echo "$output" >&2' 2>&1 >&-; }
    for way in in_jail inside; do
        prints /dev/null without_input "$way"
        prints /dev/null without_output "$way"
    done
    # The control: the descriptors are the caller's.
    [[ $(echo x | inside sh -c 'readlink /proc/self/fd/0') == pipe:* ]]
}

@test "a process that the command leaves does not delay its client, with a pipe and with a file" {
    start_jail "$SLEEP"
    inside sh -c "echo out; sleep $MARK &" >"$HOME/log"
    [[ $(cat "$HOME/log") == out ]]
    wait_until runs
    kill "$SUPERVISOR"
    end_of_jail
    wait_until runs_not
}

@test "programs that open /dev/stdout and /dev/stderr write to the caller's streams, by every backend" {
    local backend
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        prints out inside sh -c 'echo out >/dev/stdout'
        works inside sh -c 'echo error >/dev/stderr' 2>/dev/null
        works inside sh -c 'echo out >/dev/stdout; echo error >/dev/stderr' >/dev/null 2>&1
        kill "$SUPERVISOR"
        end_of_jail
    done
}

# Threat: without its Landlock domain, an added command would signal and trace processes that it must not reach. The domain shows by
# the scope of signals (Linux 6.12): the session's own command is in another one.
@test "an added command is in a Landlock domain" {
    local pid
    start_jail 'echo $$ >pid; touch ready; exec sleep 1000'
    pid=$(<pid)
    works in_jail_sh 'sleep 100 & kill -0 $!'
    has_scopes() { python3 -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 6)'; }
    if has_scopes; then fails "ermitted" inside sh -c 'kill -0 "$1"' sh "$pid"; else works inside sh -c 'kill -0 "$1"' sh "$pid"; fi
}

# ---- How many ----------------------------------------------------------------------------------------------------------

@test "64 commands run at once, the 65th is refused, and a place becomes free" {
    local number
    start_jail "$SLEEP"
    for number in {1..64}; do
        "$SBX_PROGRAM" exec -- sh -c "touch added.$number; exec sleep $MARK" </dev/null >/dev/null 2>&1 3>&- &
        CHILDREN+=($!)
    done
    all_run() { [[ $(ls added.* 2>/dev/null | wc -l) == 64 ]]; }
    wait_until all_run
    refused 125 "runs 64 added commands already" inside true
    works sandbox inspect
    [[ $(grep -c "sleep $MARK" <<<"$output") == 64 ]] || report "inspect lists them"
    kill -KILL "${CHILDREN[-1]}"
    wait_until inside true
}

open_descriptors() { ls "/proc/$1/fd" | wc -l; }
are_as_before() {
    [[ $(open_descriptors "$SUPERVISOR") == "$1" && -z $(ps --ppid "$(stage)" -o stat= | grep Z) ]]
}

@test "10,000 requests leave no descriptor, no zombie and no process" {
    local before socket
    start_jail "$SLEEP"
    works inside true
    before=$(open_descriptors "$SUPERVISOR")
    socket=$(ls -d "/tmp/agent-sandbox-u$(id -u)"/sessions/*/control)
    works python3 -c '
import array, json, os, socket, sys
def visit(request, descriptors, answers):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(sys.argv[1])
    connection.sendmsg([json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else [])
    return [json.loads(connection.recv(65536)) for _ in range(answers)]
null = os.open("/dev/null", os.O_RDWR)
root = os.open("/", os.O_RDONLY)
good = {"do": "exec", "command": ["true"]}
for number in range(2000):
    for request, descriptors in [({"do": "exec"}, [null] * 3), (good, []), (good, [null, root, null]), ({"do": "exec", "command": ["\0"]}, [null] * 3)]:
        answer = visit(request, descriptors, 1)[0]
        assert answer["ok"] is False and answer["exit_code"] == 125, answer
# These do not wait for an answer.
for number in range(1000):
    visit({"do": "exec", "command": ["no-such-command"]}, [null] * 3, 0)
for number in range(1000):
    while True:
        answer = visit(good, [null] * 3, 1)[0]
        if answer["ok"]:
            break
        assert "64 added commands" in answer["error"], answer
' "$socket"
    wait_until are_as_before "$before"
    works inside true
}

# ---- Ends and faults ---------------------------------------------------------------------------------------------------

@test "signals of the client reach the command" {
    local name recorded=0
    # The record has one line for each start and each end. The client gets its message before the next request is answered.
    is_recorded() { [[ $(sandbox log --json | grep -c '"kind":"exec"') == "$recorded" ]]; }
    start_jail "$SLEEP"
    for name in INT TERM USR1; do
        rm -f up
        start_client -- sh -c "trap 'echo got $name; exit 3' $name; touch up; while :; do sleep 0.05; done"
        wait_until test -e up
        ((++recorded))
        wait_until is_recorded
        works sandbox inspect
        kill "-$name" "$CLIENT"
        end_of_client
        [[ $STATUS == 3 && $(cat "$OUT/client") == "got $name" ]] || report "$name: $STATUS $(cat "$OUT/client")"
        ((++recorded))
    done
}

@test "when the client is killed, the command gets SIGHUP and then SIGKILL, by every backend" {
    local backend
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        rm -f up hung
        start_client -- sh -c 'trap "touch hung; exit" HUP; touch up; while :; do sleep 0.05; done'
        wait_until test -e up
        kill -KILL "$CLIENT"
        wait_until test -e hung
        rm -f up
        start_client -- sh -c "trap '' HUP; touch up; exec sleep $MARK"
        wait_until test -e up
        wait_until runs
        kill -KILL "$CLIENT"
        wait_until runs_not
        works inside true
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "a client that is killed at any step of its start leaves no process and no descriptor, by every backend" {
    local backend before step
    for backend in $(each_backend); do
        JAIL=(--backend "$backend")
        start_jail "$SLEEP"
        works inside true
        before=$(open_descriptors "$SUPERVISOR")
        for step in {0..19}; do
            start_client -- sleep "$MARK"
            # A later step each time. One command, because bats does much for each.
            eval ": {0..$((step * 2000))}"
            kill -KILL "$CLIENT"
        done
        # The session has read all requests before this one.
        works inside true
        wait_until runs_not || report "$backend: a command runs"
        wait_until are_as_before "$before" || report "$backend: descriptors"
        kill "$SUPERVISOR"
        end_of_jail
    done
}

@test "when the session's own command ends, added commands end with it, and both sides print it" {
    "$SBX_PROGRAM" -- sh -c 'touch ready; until test -e go; do sleep 0.05; done' </dev/null >"$OUT/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    CHILDREN+=("$SUPERVISOR")
    wait_until test -e ready
    start_client -- sh -c "touch up; exec sleep $MARK"
    wait_until test -e up
    touch go
    end_of_client
    [[ $STATUS == 137 && $(cat "$OUT/client") == *"has ended, and the command with it"* ]] || report "$STATUS $(cat "$OUT/client")"
    end_of_jail
    [[ $STATUS == 0 && $(cat "$OUT/jail.out") == *"1 command of 'agent-sandbox exec' ended with the session"* ]] || report "$(cat "$OUT/jail.out")"
    wait_until runs_not
}

@test "when the supervisor or the stage is killed, clients end and no process is left, by every backend" {
    local backend victim
    for backend in $(each_backend); do
        for victim in supervisor stage; do
            JAIL=(--backend "$backend")
            start_jail "$SLEEP"
            rm -f up
            start_client -- sh -c "touch up; exec sleep $MARK"
            wait_until test -e up
            wait_until runs
            if [[ $victim == supervisor ]]; then kill -KILL "$SUPERVISOR"; else kill -KILL "$(stage)"; fi
            end_of_client
            [[ $STATUS == 137 && $(cat "$OUT/client") == *"has ended, and the command with it"* ]] || report "$backend, $victim: $STATUS $(cat "$OUT/client")"
            wait_until runs_not
            end_of_jail
        done
    done
}

@test "a client of a session that is stopped leaves at Ctrl-C, and the command does not run later" {
    start_jail "$SLEEP"
    kill -STOP "$SUPERVISOR"
    start_client -- touch late
    is_waiting() { [[ $(ps -o wchan= -p "$CLIENT") == *poll* ]]; }
    wait_until is_waiting
    kill -INT "$CLIENT"
    end_of_client
    ((STATUS == 130)) || report "$STATUS"
    kill -CONT "$SUPERVISOR"
    works inside true
    [[ ! -e late ]] || report "the command ran without its client"
}

# ---- Records -----------------------------------------------------------------------------------------------------------

@test "added commands are recorded without their secrets, and inspect shows them" {
    start_jail "$SLEEP"
    run inside sh -c 'exit 3' sh --token=hidden-word
    start_client -- sh -c "touch up; exec sleep $MARK"
    wait_until test -e up
    works sandbox inspect
    [[ $output == *"Commands of exec"*"sleep $MARK"* ]] || report "inspect"
    works sandbox log
    [[ $output == *"exec "*"exit 3"*"status 3"* && $output != *hidden-word* ]] || report "log"
    [[ $(sandbox log --json | grep -c '"kind":"exec"') == 3 ]] || report "one line at each start and each end"
    sandbox log --json | grep '"kind":"exec"' | head -n 1 | member command 0 | grep -qx sh
}

@test "a traced session refuses added commands" {
    JAIL=(--trace-commands)
    start_jail "$SLEEP"
    refused 125 "the session is traced, and an added command would not be" inside true
}
