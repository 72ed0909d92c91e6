# SPDX-License-Identifier: MIT
# Sessions whose processes are killed or stopped, and the checks after each: it ends or continues as the table requires, with this
# status and this message; it leaves no process, no mount, and no file except the record; the project is unchanged.

# A long limit for a busy machine; a test that passes does not wait so long.
soon() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.02
    done
}

# Runs as the user of the sessions; the tests of the network run as root.
sandbox() { "$SBX_PROGRAM" "$@"; }

# ---- A session with everything on --------------------------------------------------------------------------------------

# Waits for `go` and exits with 7; meanwhile a daemon runs that the command does not wait for.
MARK=1000.$BATS_ROOT_PID
WAITS="setsid sleep $MARK & touch ready; until [ -e go ]; do sleep 0.02; done; exit 7"

# start_session [SCRIPT]: JAIL holds its options. SUPERVISOR is its process; jail.out gets its messages.
start_session() {
    rm -f "$PROJECT/go" "$PROJECT/ready"
    "${ATTENTIVE[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- sh -c "${1:-$WAITS}" </dev/null >"$BATS_TEST_TMPDIR/jail.out" 2>&1 3>&- &
    SUPERVISOR=$!
    CHILDREN+=("$SUPERVISOR")
    soon test -e "$PROJECT/ready" || { cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}
let_go() { touch "$PROJECT/go"; }

comm_of() { cat "/proc/$1/comm" 2>/dev/null; }
parent_of() { awk '/^PPid:/ { print $2 }' "/proc/$1/status" 2>/dev/null; }
children_of() { pgrep -P "$1"; }
is_alive() { [[ -e /proc/$1/stat && $(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) != [ZX] ]]; }
is_dead() { ! is_alive "$1"; }
is_stopped() { [[ $(awk '/^State:/ { print $2 }' "/proc/$1/status") == T ]]; }

# process NAME: prints the process id in the session of SUPERVISOR.
#   builder   the child that became the jail, or the program that builds it: bwrap, firejail, the warden
#   stage     the command's parent, pid 1 of the jail where it has namespaces
process() {
    local child
    case $1 in
        supervisor) echo "$SUPERVISOR" ;;
        gateway | tracer | chaperon | sockets | keeper) pgrep -P "$SUPERVISOR" -x "asb-$1" ;;
        command) pgrep -u "$SBX_USER" -o -f "^(/[a-z/]*)?(ba)?sh -c .*touch ready" ;;
        stage) parent_of "$(process command)" ;;
        builder)
            child=$(process stage)
            until [[ -z $child || $(parent_of "$child") == "$SUPERVISOR" ]]; do child=$(parent_of "$child"); done
            echo "$child"
            ;;
    esac
}

# need NAME: FOUND gets its process id. It fails if the process does not exist, because a fault without a target proves nothing.
need() {
    # Helpers start beside the command, which may be faster.
    soon has_process "$1" || true
    FOUND=$(process "$1")
    [[ $FOUND =~ ^[0-9]+$ ]] || { echo "no $1 below $SUPERVISOR: '$FOUND'" >&2; ps -u "$SBX_USER" -o pid,ppid,stat,comm,args --forest >&2; return 1; }
}
has_process() { [[ $(process "$1") =~ ^[0-9]+$ ]]; }

# ---- Checks ------------------------------------------------------------------------------------------------------------

# remember_world: records the state between sessions. The first session of a home leaves files that later ones find: a cache, empty
# directories.
remember_world() {
    works in_jail true
    soon nothing_runs || { left_processes >&2; return 1; }
    sandbox ps >/dev/null
    WORLD=$(world)
    MOUNTS=$(mounts_of_host)
}

# The project with its content, the user's entries in /tmp and /dev/shm, the known sessions, and our own state without the records:
# of sessions, of jobs and their output, the results of the searches (one for each node) and of the review of a project, the key of
# jobs' directories, and the file of locks for names that are not held.
world() {
    (cd "$PROJECT" && find . -path ./ready -o -path ./go -o -printf '%p %y %m\n' -type f -exec sha256sum {} +) | sort
    find "$(dirname "$PROJECT")" -mindepth 1 -maxdepth 1 | sort
    find /tmp /dev/shm -mindepth 1 -maxdepth 1 -user "$SBX_USER" ! -name 'bats-*' ! -name 'tmux-*' | sort
    find "/tmp/agent-sandbox-u$(id -u "$SBX_USER")" -mindepth 2 2>/dev/null | sort
    find "$SBX_HOME/.local/state/agent-sandbox" -mindepth 1 ! -path '*/sessions/*' ! -path '*/slurm/log*' ! -path '*/slurm/jobs*' ! -path '*/slurm/output*' \
        ! -path '*/reviewed*' ! -path '*/known-places*' ! -path '*/private-files*' ! -name unheld ! -name job-key 2>/dev/null | sort
}
is_world_as_before() { [[ $(world) == "$WORLD" ]]; }
# Without the directories that the first firejail on a machine mounts for itself, perhaps in another shard.
mounts_of_host() { cut -d' ' -f3- /proc/self/mountinfo | grep -v ' /run/firejail/' | sort; }

# Processes of the user of sessions that are part of a session, its command or a program that builds jails, without zombies.
left_processes() {
    ps -u "$SBX_USER" -o pid=,ppid=,stat=,comm=,args= |
        awk '$3 !~ /^[ZX]/ && $4 !~ /^(ps|awk|grep|bats|python3|tmux)/ && !/bats/ && /asb-|agent-sandbox|inner-stage|bwrap|firejail|touch ready|'"$MARK"'/'
}
nothing_runs() { [[ -z $(left_processes) ]]; }

# expect_clean WHAT
expect_clean() {
    soon nothing_runs || { echo "$1: processes are left:" >&2; left_processes >&2; return 1; }
    [[ $(mounts_of_host) == "$MOUNTS" ]] || { echo "$1: mounts of the host changed" >&2; return 1; }
    soon is_world_as_before || { echo "$1: something is left:" >&2; diff <(echo "$WORLD") <(world) >&2; return 1; }
}

# For a session whose files only the next session removes, because its keeper was killed too or had not started. The next session
# removes a name in the state directory, which several machines may share, only after an hour, and a directory that its session has
# not filled only after ten seconds. So this makes their times that old.
expect_clean_after_the_next() {
    # A keeper may remove files there at the same moment.
    find "$SBX_HOME/.local/state/agent-sandbox" \( -type s -o -name '*.new.*' \) -exec touch -c -d '2 hours ago' {} + 2>/dev/null || true
    find "/tmp/agent-sandbox-u$(id -u "$SBX_USER")/sessions" -mindepth 1 -maxdepth 1 -exec touch -c -d '1 minute ago' {} + 2>/dev/null || true
    works in_jail true
    expect_clean "$1"
}

# expect_end WHAT STATUS [TEXT]: the session ends soon, with this status and this message.
expect_end() {
    soon is_dead "$SUPERVISOR" || { echo "$1: it does not end" >&2; ps -u "$SBX_USER" -o pid,ppid,stat,args --forest >&2; return 1; }
    end_of_jail
    [[ $STATUS == "$2" ]] || { echo "$1: ended with $STATUS and not $2:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    [[ -z ${3:-} ]] || grep -qF -- "$3" "$BATS_TEST_TMPDIR/jail.out" ||
        { echo "$1: should say '$3', and not:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}
