#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each limit stops the command, the user gets a message, and the host stays usable meanwhile. Every command here also ends without
# the limit: a limit that does not work makes a test fail, and does not harm the machine.

load helper
setup() { start_test; }
teardown() { end_test; }

# stopped CODE SENTENCE COMMAND...
stopped() {
    local code=$1 sentence=$2
    shift 2
    run "-$code" --separate-stderr "$@" || { output+=$stderr; report "should end with $code: $*"; }
    [[ $stderr == "agent-sandbox: $sentence" ]] || { output=$stderr; report "should say '$sentence': $*"; }
}

# A wrong unit of time is a factor of 60 or more. A busy machine needs a few seconds for the start and the end.
elapsed() { echo $(((${EPOCHREALTIME/./} - started) / 1000)); }

@test "wall time ends the jail with 124, with its background processes" {
    local length="1000.$RANDOM$RANDOM" started=${EPOCHREALTIME/./}
    JAIL=(--limit wall_time=1s)
    stopped 124 "stopped: limits.wall_time = 1s was reached (--limit)" in_jail_sh 'setsid sleep "$1" & sleep "$1"' "$length"
    (($(elapsed) >= 1000 && $(elapsed) < 30000))
    fails "" pgrep -u "$SBX_USER" -xf "sleep $length"
}

@test "a command has a moment to end after SIGTERM, and is killed if it ignores the signal" {
    JAIL=(--limit wall_time=1s)
    run -124 in_jail_sh 'trap "echo goodbye >said; exit 3" TERM; while :; do sleep 0.02; done'
    prints goodbye cat said
    local started=${EPOCHREALTIME/./}
    run -124 in_jail_sh 'trap "" TERM; while :; do sleep 0.02; done'
    (($(elapsed) >= 2900 && $(elapsed) < 30000))
}

@test "a command that is faster than its limit is not touched" {
    JAIL=(--limit wall_time=50s --limit idle_time=50s --limit memory=4G --limit processes=500)
    run -7 --separate-stderr in_jail_sh 'exit 7'
    [[ -z $stderr ]]
}

@test "idle time ends a command that waits, not one that works" {
    JAIL=(--limit idle_time=2s)
    stopped 124 "stopped: limits.idle_time = 2s was reached (--limit)" in_jail sleep 50
    works in_jail bash -c 'while ((SECONDS < 4)); do :; done'
}

# Touches 600 MB in steps.
HOG='all = [b"a" * (1 << 20) for _ in range(600)]; print("all of it")'

@test "a process that hogs memory ends the jail with 137" {
    prints "all of it" python3 -c "$HOG"
    JAIL=(--limit memory=200M)
    stopped 137 "stopped: limits.memory = 200M was reached (--limit)" in_jail python3 -c "$HOG"
    [[ -z $output ]]
}

@test "the memory of all processes counts together" {
    JAIL=(--limit memory=200M)
    stopped 137 "stopped: limits.memory = 200M was reached (--limit)" \
        in_jail_sh 'for _ in 1 2 3 4 5 6; do python3 -c "import time; x = b\"a\" * (50 << 20); time.sleep(10)" & done; wait'
}

@test "files in the jail's own /tmp and /dev/shm count as memory" {
    local place
    JAIL=(--limit memory=100M)
    for place in /tmp /dev/shm; do
        stopped 137 "stopped: limits.memory = 100M was reached (--limit)" \
            in_jail_sh 'head -c 200M /dev/zero >"$1/file"; sleep 10' "$place"
    done
}

# Threat: when the first thread of a process has ended, /proc shows neither memory nor root of the process, but its other threads
# still run.
@test "memory can't be hidden by ending the first thread" {
    local number=60 hide
    [[ $(uname -m) == aarch64 ]] && number=93
    JAIL=(--limit memory=100M)
    hide='import ctypes, sys, threading, time
def act():
    exec(sys.argv[2])
    time.sleep(10)
threading.Thread(target=act).start()
time.sleep(1)
ctypes.CDLL(None).syscall(int(sys.argv[1]), 0)'
    stopped 137 "stopped: limits.memory = 100M was reached (--limit)" in_jail python3 -c "$hide" "$number" 'x = b"a" * (200 << 20); time.sleep(10)'
    stopped 137 "stopped: limits.memory = 100M was reached (--limit)" \
        in_jail python3 -c "$hide" "$number" 'time.sleep(2); open("/tmp/file", "wb").write(bytes(200 << 20))'
}

@test "memory that processes share is counted once" {
    JAIL=(--limit memory=250M)
    works in_jail python3 -c 'import os, time
x = b"a" * (100 << 20)
for _ in range(6):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
for _ in range(6):
    os.wait()'
}

# Starts 100 processes at most, which end by themselves, and prints how many could be started.
FORKS='import os, time
started = 0
try:
    while started < 100:
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
        started += 1
except BlockingIOError:
    pass
print(started)'

@test "processes are limited for the jail alone" {
    prints 100 python3 -c "$FORKS"
    # Other processes of the same user do not count.
    for _ in $(seq 30); do sleep 20 3>&- & CHILDREN+=($!); done
    JAIL=(--limit processes=20)
    prints 19 in_jail python3 -c "$FORKS"
}

@test "a fork bomb fills its jail and nothing else" {
    JAIL=(--limit processes=30 --limit wall_time=2s)
    run -124 in_jail bash -c 'bomb() { bomb | bomb & }; bomb; sleep 20'
    works true
    fails "" pgrep -u "$SBX_USER" -f '^bash -c bomb'
}

@test "with a limit of one process the command can't fork" {
    JAIL=(--limit processes=1)
    fails "Resource temporarily unavailable" in_jail python3 -c 'import os; os.fork()'
}

@test "a limit can't be raised from inside" {
    JAIL=(--limit processes=20 --limit open_files=30 --limit file_size=1M)
    prints "20 30 30" in_jail bash -c 'echo $(($(ulimit -u) - 1)) $(ulimit -n) $(ulimit -Hn)'
    fails "" in_jail bash -c 'ulimit -n 31'
    fails "" in_jail bash -c 'ulimit -u 300'
    fails "" in_jail bash -c 'ulimit -f unlimited'
}

@test "open files are limited" {
    local open='files = [open("/dev/null") for _ in range(100)]'
    works python3 -c "$open"
    JAIL=(--limit open_files=50)
    fails "Too many open files" in_jail python3 -c "$open"
}

@test "a file can't grow beyond the limit, and a message names the limit that ended the command" {
    works sh -c 'head -c 3M /dev/zero >file && rm file'
    JAIL=(--limit file_size=1M)
    stopped 153 "dd was ended: limits.file_size = 1M was reached (--limit)" in_jail dd if=/dev/zero of=file bs=1M count=3 status=none
    prints 1048576 stat -c %s file
}

@test "limits also come from variables and from the project, and messages name the source" {
    AGENT_SANDBOX_LIMITS_WALL_TIME=1 stopped 124 "stopped: limits.wall_time = 1s was reached (AGENT_SANDBOX_LIMITS_WALL_TIME)" in_jail sleep 20
    printf '[limits]\nwall_time = "1s"\n' >.agent-sandbox.toml
    run -124 --separate-stderr in_jail sleep 20
    [[ $stderr == *".agent-sandbox.toml:2)" ]] || { output=$stderr; report "should name the file and the line"; }
}

@test "a limit that does not exist or can't be read is refused" {
    refused 125 "did you mean memory?" "$SBX_PROGRAM" --limit memroy=1G true
    refused 125 "limits.memory" "$SBX_PROGRAM" --limit memory=lots true
}

@test "the plan shows the limits" {
    works "$SBX_PROGRAM" --limit memory=1536M --limit wall_time=90s --dry-run true
    [[ $output == *"limits.memory"*"1536M"*"--limit"* && $output == *"limits.wall_time"*"90s"* ]]
    works "$SBX_PROGRAM" --dry-run true
    [[ $output != *"limits."* ]]
}
