#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `--detach` and `attach` in a real tmux: a session without its caller's terminal, and its connection to another one.

load helper
load screen

setup() {
    start_test
    SERVER=sbx-$SBX_TAG-$BATS_TEST_NUMBER
    start_screen 80 24
    wait_until shows "ready>"
    ATTACH="$SBX_PROGRAM attach"
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    sandbox stop --now $(sandbox ps --ids) >/dev/null 2>&1 || true
    wait_until nothing_left
    end_test
}

sandbox() { "$SBX_PROGRAM" "$@"; }
# detach COMMAND...: starts it without a terminal of the caller; ID is the session.
detach() {
    ID=$("${ATTENTIVE[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" --detach -- "$@" </dev/null 3>&-)
    [[ $ID =~ ^[0-9a-f]{8}$ ]]
}
terminal_is() { [[ $(sandbox ps --json | member sessions 0 terminal) == "$1" ]]; }
supervisor() { sandbox ps --json | member sessions 0 pid; }
holder() { pgrep -u "$SBX_USER" -x asb-detached; }
client() { pgrep -u "$SBX_USER" -f "^$SBX_PROGRAM attach" -o; }
stop_all() {
    ends() { sandbox stop --now $(sandbox ps --ids) >/dev/null 2>&1 || true; nothing_left; }
    wait_until ends
}
nothing_left() { [[ -z $(sandbox ps --ids) ]] && ! pgrep -u "$SBX_USER" -x "asb-.*" >/dev/null; }
attach() {
    line "$ATTACH $*"
    expect terminal_is attached
}
# The keys that detach.
leave() {
    keys C-] && keys d
    expect terminal_is detached
}

# bats test_tags=smoke
@test "a detached session prints its id, is listed, and shows its last output to a client" {
    detach sh -c 'echo before; until [ -e go ]; do sleep 0.02; done; echo after; read answer; echo "got $answer"; exit 7'
    prints "$ID" sandbox ps --ids
    [[ $(sandbox ps) == *"detached: sh"* ]]
    attach "$ID"
    expect says before
    touch go
    expect says after
    [[ $(sandbox ps) != *"detached: sh"* ]]
    line hello
    expect says "got hello"
    expect shows "session $ID has ended"
    line 'echo status $?'
    expect says "status 7"
    wait_until nothing_left
}

@test "a detached session shows its output again, gets the size of each client, and ends, by every backend" {
    local backend
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        in_jail true >/dev/null 2>&1 || continue
        rm -f up
        detach bash -c 'echo "before $AGENT_SANDBOX_BACKEND"; trap "echo \"size \$(stty size)\"" WINCH; touch up; while :; do sleep 0.02; done'
        wait_until test -e up
        line clear
        attach
        expect says "before $backend"
        expect says "size 24 80"
        leave
        tmux -L "$SERVER" resize-window -x 101 -y 33
        line clear
        attach
        expect says "before $backend"
        expect says "size 33 101"
        keys C-c
        expect shows "has ended"
        tmux -L "$SERVER" resize-window -x 80 -y 24
        line "clear; until [[ \$(stty size) == '24 80' ]]; do sleep 0.02; done; echo $backend done"
        expect says "$backend done"
        wait_until nothing_left
    done
}

@test "the keys leave the session, and their beginning alone reaches the command" {
    detach bash --norc --noprofile -i
    BEFORE=$(settings)
    attach
    line 'echo one'
    expect says one
    leave
    expect shows "session $ID goes on"
    line 'echo status $?'
    expect says "status 0"
    in_order
    attach
    expect says one
    line 'read -rsn2 keys; printf "%s" "$keys" | od -An -tx1'
    keys C-] && keys x
    expect shows " 1d 78"
    line 'exit 4'
    expect shows "has ended"
    in_order
}

@test "detach.keys chooses other keys, and a wrong value is refused" {
    detach sh -c 'cat'
    line "AGENT_SANDBOX_DETACH_KEYS='ctrl-a ctrl-x' $ATTACH"
    expect terminal_is attached
    keys C-a && keys C-x
    expect terminal_is detached
    refused 125 "detach.keys" env AGENT_SANDBOX_DETACH_KEYS=d "$SBX_PROGRAM" attach
}

@test "vim goes on while detached, and redraws for a client of another size" {
    echo "first line" >file
    detach vim -u NONE -N file
    BEFORE=$(settings)
    attach
    expect shows "first line"
    expect is alternate_on 1
    keys -l 'ochanged' && keys Escape
    expect shows changed
    leave
    in_order
    tmux -L "$SERVER" resize-window -x 101 -y 33
    BEFORE=$(settings)
    attach
    expect shows changed
    expect is alternate_on 1
    line ':call writefile([&lines." ".&columns], "size")'
    expect test -s size
    prints "33 101" cat size
    line ':wq'
    expect shows "has ended"
    [[ $(tail -n 1 file) == changed ]]
    in_order
}

@test "less redraws after more output than is kept" {
    seq 100000 >numbers
    detach sh -c 'seq 200000; less numbers'
    attach
    expect says 23
    keys -l '50000g'
    expect says 50000
    leave
    attach
    expect says 50000
    keys -l 'q'
    expect shows "has ended"
}

@test "Ctrl-C and Ctrl-Z reach the command, and a shell inside has job control" {
    detach bash --norc --noprofile -i
    attach
    line 'sleep 998'
    wait_until pgrep -u "$SBX_USER" -xf "sleep 998"
    keys C-z
    expect shows "Stopped"
    line 'fg'
    continues() { [[ $(ps -o stat= -p "$(pgrep -u "$SBX_USER" -xf "sleep 998")") == S* ]]; }
    wait_until continues
    keys C-c
    is_interrupted() { ! pgrep -u "$SBX_USER" -xf "sleep 998" >/dev/null; }
    expect is_interrupted
    line 'exit 5'
    # Keys that are typed before belong to the session.
    expect shows "has ended"
    line 'echo status $?'
    expect says "status 5"
}

@test "a second client is refused without --take, and takes the session with it" {
    detach sh -c 'echo shown; cat'
    attach
    tmux -L "$SERVER" new-window "env PS1='second> ' bash --norc --noprofile -i"
    expect shows "second>"
    line "$ATTACH"
    expect shows "attached to another terminal"
    line 'echo status $?'
    expect says "status 125"
    line "clear; $ATTACH --take"
    expect says shown
    tmux -L "$SERVER" select-window -t 0
    expect shows "another terminal has taken session $ID"
    line 'echo status $?'
    expect says "status 1"
    terminal_is attached
}

@test "attach refuses in one line what it can't do" {
    refused 125 "attach takes one session" sandbox attach a b
    start_jail 'touch ready; exec sleep 1000'
    refused 125 "no session was started with --detach" sandbox attach
    line "$ATTACH $(sandbox ps --ids)"
    expect shows "was not started with --detach"
    kill "$SUPERVISOR"
    end_of_jail
    detach sleep 1000
    refused 125 "attach needs a terminal" sandbox attach
    refused 2 "--detach has no meaning for ps" sandbox --detach ps
}

@test "a session that can't start reports why to its caller, and leaves nothing" {
    refused 127 "was not found in the jail" sandbox --detach no-such-command
    refused 125 "not a choice" sandbox --detach --network bogus true
    refused 125 "no command to run" sandbox --detach
    wait_until nothing_left
    # The caller's pipe ends with the caller, although the session goes on.
    [[ $(sandbox --quiet --detach sleep 1000 2>&1 | cat | wc -l) == 1 ]]
}

@test "SIGHUP to the supervisor and the end of the caller's session do not end a detached session" {
    detach bash -c 'trap "echo hangup" HUP; touch up; while :; do sleep 0.02; done'
    wait_until test -e up
    kill -HUP "$(supervisor)"
    sandbox stop --now "$ID"
    # Started in a terminal that is closed then.
    rm up
    line "$SBX_PROGRAM --quiet --detach sh -c 'touch up; exec sleep 1000'"
    expect test -e up
    tmux -L "$SERVER" kill-server
    has_no_terminal() { ! pgrep -u "$SBX_USER" -xf "bash --norc --noprofile -i" >/dev/null; }
    wait_until has_no_terminal
    [[ -n $(sandbox ps --ids) ]]
    pgrep -u "$SBX_USER" -xf "sleep 1000"
}

FULL='stty raw -echo; printf "\033[?1049h\033[?25l\033[?1000h\033[?2004h"; echo drawn; touch up; exec sleep 999'
start_full() {
    BEFORE=$(settings)
    rm -f up
    detach sh -c "$FULL"
    wait_until test -e up
    attach
    expect is alternate_on 1
    expect is cursor_flag 0
}

is_over() { ! pgrep -u "$SBX_USER" -xf 'sleep 999' >/dev/null; }

@test "the terminal is in order after the command, the client, the holder, the supervisor or the stage is killed" {
    local victim
    for victim in client command holder supervisor stage; do
        start_full
        case $victim in
            client) kill -KILL "$(client)" ;;
            command) kill -KILL "$(pgrep -u "$SBX_USER" -xf 'sleep 999')" ;;
            holder) kill -KILL "$(holder)" ;;
            supervisor) kill -KILL "$(supervisor)" ;;
            stage) kill -KILL "$(ps -o ppid= -p "$(pgrep -u "$SBX_USER" -xf 'sleep 999')")" ;;
        esac
        in_order
        if [[ $victim == client ]]; then
            expect terminal_is detached
            sandbox stop --now "$ID"
        fi
        wait_until nothing_left
        wait_until is_over
    done
}

@test "the caller, the holder or the supervisor is killed during the start: no process is left" {
    local victim try
    starting() { pgrep -u "$SBX_USER" -x asb-detached >/dev/null; }
    leader() { ps -o pid= --ppid "$(holder)" | head -n 1; }
    for victim in caller holder supervisor; do
        for try in {1..5}; do
            "${ATTENTIVE[@]}" "$SBX_PROGRAM" --quiet --detach -- sleep 997 </dev/null >/dev/null 2>&1 3>&- &
            CHILDREN+=($!)
            wait_until starting
            case $victim in
                caller) kill -KILL $! || true ;;
                holder) kill -KILL "$(holder)" || true ;;
                supervisor) kill -KILL "$(leader)" || true ;;
            esac
            wait $! || true
            # The caller may have ended a moment before; then the session is listed and goes on.
            [[ $victim != caller ]] || stop_all
            wait_until nothing_left
            is_ended() { ! pgrep -u "$SBX_USER" -xf 'sleep 997' >/dev/null; }
            wait_until is_ended
        done
    done
}

@test "a replay asks the terminal nothing, so nothing is typed into the jail" {
    local questions='\033[c\033[6n\033[>q\033]11;?\033\\\033P$qm\033\\'
    # The control: tmux answers these at once.
    line "printf '$questions'; read -rsn1 -t 60 answer && echo answered"
    expect says answered
    keys C-c
    detach bash -c "stty raw -echo; printf '$questions'; touch up; exec head -c 1 >typed"
    wait_until test -e up
    attach
    keys -l Z
    expect shows "has ended"
    prints Z cat typed
}

@test "a client that never reads holds at most its share, and --take gets the session from it" {
    detach bash -c 'trap : USR1; touch up; while :; do echo "${RANDOM}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; done'
    wait_until test -e up
    attach
    kill -STOP "$(client)"
    # The command waits as it would for a slow terminal.
    waits() { [[ $(ps -o wchan= -o stat= -p "$(pgrep -u "$SBX_USER" -f '^bash -c trap.*xxxx')") == *S* ]]; }
    wait_until waits
    local resident
    resident=$(ps -o rss= -p "$(holder)")
    ((resident < 20000)) || report "the holder has $resident KiB"
    tmux -L "$SERVER" new-window "env PS1='second> ' bash --norc --noprofile -i"
    expect shows "second>"
    line "$ATTACH --take"
    expect shows xxxxx
    leave
    kill -KILL "$(client)"
}

@test "a process of the jail reaches neither the holder nor its messages, and can't attach" {
    # The control: a process outside attaches with the same request.
    cat >ask.py <<'PYTHON'
import array, json, os, socket, sys
control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
control.connect(sys.argv[1])
ours, theirs = socket.socketpair()
text = json.dumps({"do": "attach", "rows": 24, "columns": 80, "take": True}).encode()
control.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))])
print(control.recv(4096).decode())
PYTHON
    detach sh -c 'ls -l /proc/self/fd >descriptors; touch up; exec sleep 1000'
    wait_until test -e up
    local control
    control=$(find "${XDG_RUNTIME_DIR:-/nonexistent}" "$HOME/.local/state/agent-sandbox" /tmp -maxdepth 4 -name control -type s -user "$SBX_USER" 2>/dev/null | head -n 1)
    [[ -n $control ]]
    prints '{"ok":true,"attached":true}' python3 ask.py "$control"
    fails "No such file or directory" sandbox exec -- python3 ask.py "$control"
    # 0 and 2 are the terminal, 1 is the file, and 3 is the directory that ls reads.
    [[ $(grep -c -- '->' descriptors) == 4 && $(grep -c 'pts' descriptors) == 2 ]]
}

@test "half a message and a wrong descriptor change nothing" {
    cat >forge.py <<'PYTHON'
import array, json, os, socket, sys
def ask(text, descriptors):
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(sys.argv[1])
    control.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else [])
    return control, control.recv(4096).decode()
request = json.dumps({"do": "attach", "rows": 24, "columns": 80}).encode()
read, write = os.pipe()
ours, theirs = socket.socketpair()
print("refused" if "error" in ask(request[:20], [theirs.fileno()])[1] else "taken")
print("refused" if "error" in ask(request, [])[1] else "taken")
print("refused" if "error" in ask(request, [read])[1] else "taken")
control, answer = ask(request, [theirs.fileno()])
print("attached" if "attached" in answer else answer)
for text in (b"{", b"\xff\xfe", b'{"rows":-5,"columns":99999999999}', b'{"rows":"x"}', b"[1]", b"{" * 3000):
    control.send(text)
print("refused" if "error" in ask(request, [theirs.fileno()])[1] else "taken")
PYTHON
    detach sleep 1000
    local control
    control=$(find "${XDG_RUNTIME_DIR:-/nonexistent}" "$HOME/.local/state/agent-sandbox" /tmp -maxdepth 4 -name control -type s -user "$SBX_USER" 2>/dev/null | head -n 1)
    prints "$(printf '%s\n' refused refused refused attached refused)" python3 forge.py "$control"
    wait_until terminal_is detached
    pgrep -u "$SBX_USER" -xf 'sleep 1000'
}
