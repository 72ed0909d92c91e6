# SPDX-License-Identifier: MIT
# Sessions whose processes are killed or stopped, and what must hold after each: it ends or goes on as the table says, with this status
# and these words; no process of it is left, no mount, no file but the record; the project is as it was.

# A generous bound for a busy machine; nothing waits that long where all is well.
soon() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.02
    done
}

# As the user whose sessions they are; the tests of the network run as root.
sandbox() { "$SBX_PROGRAM" "$@"; }

# ---- A session with everything on --------------------------------------------------------------------------------------

# Waits for `go` and ends with 7; meanwhile a daemon that nobody of the command's waits for runs on.
MARK=1000.$BATS_ROOT_PID
WAITS="setsid sleep $MARK & touch ready; until [ -e go ]; do sleep 0.02; done; exit 7"

# start_session [SCRIPT]: JAIL holds its options. SUPERVISOR is its process; it says what happens to it, in jail.out.
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
children_but_search_of() { pgrep -P "$1" | while read -r child; do [[ $(comm_of "$child") == asb-search ]] || echo "$child"; done; }
is_alive() { [[ -e /proc/$1/stat && $(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) != [ZX] ]]; }
is_dead() { ! is_alive "$1"; }
is_stopped() { [[ $(awk '/^State:/ { print $2 }' "/proc/$1/status") == T ]]; }

# process NAME: of the session of SUPERVISOR.
#   builder   the child that became the jail, or the program that builds it: bwrap, firejail, the warden
#   stage     the command's parent, pid 1 of the jail where it has namespaces
process() {
    local child
    case $1 in
        supervisor) echo "$SUPERVISOR" ;;
        gateway | tracer | chaperon) pgrep -P "$SUPERVISOR" -x "asb-$1" ;;
        command) pgrep -u "$SBX_USER" -o -f "^(/[a-z/]*)?(ba)?sh -c .*touch ready" ;;
        stage) parent_of "$(process command)" ;;
        builder)
            child=$(process stage)
            until [[ -z $child || $(parent_of "$child") == "$SUPERVISOR" ]]; do child=$(parent_of "$child"); done
            echo "$child"
            ;;
        # A copy of the supervisor that waits: it has no name of its own, and no child but the search of the project.
        keeper)
            for child in $(children_of "$SUPERVISOR"); do
                [[ $(comm_of "$child") == agent-sandbox && -z $(children_but_search_of "$child") && $child != "$(process builder)" ]] || continue
                echo "$child"
            done
            ;;
    esac
}

# need NAME: its process goes to FOUND; a fault that hits nobody shows nothing.
need() {
    # Helpers are started beside the command, which may be faster.
    soon has_process "$1" || true
    FOUND=$(process "$1")
    [[ $FOUND =~ ^[0-9]+$ ]] || { echo "no $1 below $SUPERVISOR: '$FOUND'" >&2; ps -u "$SBX_USER" -o pid,ppid,stat,comm,args --forest >&2; return 1; }
}
has_process() { [[ $(process "$1") =~ ^[0-9]+$ ]]; }

# ---- What must hold ----------------------------------------------------------------------------------------------------

# remember_world: as it is between sessions. The first one of a home leaves what later ones find: a cache, empty directories.
remember_world() {
    works in_jail true
    soon nothing_runs || { left_processes >&2; return 1; }
    sandbox ps >/dev/null
    WORLD=$(world)
    MOUNTS=$(mounts_of_host)
}

# The project with its content, the host's directories for everybody, the sessions that are known, and our own state but for records: of sessions, of jobs and their output,
# what the search and the review of a project found, and the key of jobs' directories.
world() {
    (cd "$PROJECT" && find . -path ./ready -o -path ./go -o -printf '%p %y %m\n' -type f -exec sha256sum {} +) | sort
    find "$(dirname "$PROJECT")" -mindepth 1 -maxdepth 1 | sort
    find /tmp /dev/shm -mindepth 1 -maxdepth 1 -user "$SBX_USER" ! -name 'bats-*' ! -name 'tmux-*' | sort
    find "/tmp/agent-sandbox-u$(id -u "$SBX_USER")" -mindepth 2 2>/dev/null | sort
    find "$SBX_HOME/.local/state/agent-sandbox" -mindepth 1 ! -path '*/sessions/*' ! -path '*/slurm/log*' ! -path '*/slurm/jobs*' ! -path '*/slurm/output*' \
        ! -path '*/reviewed*' ! -path '*/known-places*' ! -name job-key 2>/dev/null | sort
}
is_world_as_before() { [[ $(world) == "$WORLD" ]]; }
mounts_of_host() { cut -d' ' -f3- /proc/self/mountinfo | sort; }

# What runs as the user of sessions, of the commands in them and of the programs that build jails, but for those that wait to be collected.
left_processes() {
    ps -u "$SBX_USER" -o pid=,ppid=,stat=,comm=,args= |
        awk '$3 !~ /^[ZX]/ && $4 !~ /^(ps|awk|grep|bats|perl|tmux)/ && !/bats/ && /asb-|agent-sandbox|inner-stage|bwrap|firejail|touch ready|'"$MARK"'/'
}
nothing_runs() { [[ -z $(left_processes) ]]; }

# expect_clean WHAT
expect_clean() {
    soon nothing_runs || { echo "$1: processes are left:" >&2; left_processes >&2; return 1; }
    [[ $(mounts_of_host) == "$MOUNTS" ]] || { echo "$1: mounts of the host changed" >&2; return 1; }
    soon is_world_as_before || { echo "$1: something is left:" >&2; diff <(echo "$WORLD") <(world) >&2; return 1; }
}

# For what only the next session takes away: one whose keeper was killed as well, or had not begun. Names in the state directory, which
# machines may share, are taken for left after an hour, a directory that its session has not filled after ten seconds: they are made so old.
expect_clean_after_the_next() {
    # A keeper may be at work there at the same moment.
    find "$SBX_HOME/.local/state/agent-sandbox" \( -type s -o -name '*.new.*' \) -exec touch -c -d '2 hours ago' {} + 2>/dev/null || true
    find "/tmp/agent-sandbox-u$(id -u "$SBX_USER")/sessions" -mindepth 1 -maxdepth 1 -exec touch -c -d '1 minute ago' {} + 2>/dev/null || true
    works in_jail true
    expect_clean "$1"
}

# expect_end WHAT STATUS [TEXT]: of the session, which must be over soon.
expect_end() {
    soon is_dead "$SUPERVISOR" || { echo "$1: it does not end" >&2; ps -u "$SBX_USER" -o pid,ppid,stat,args --forest >&2; return 1; }
    end_of_jail
    [[ $STATUS == "$2" ]] || { echo "$1: ended with $STATUS and not $2:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    [[ -z ${3:-} ]] || grep -qF -- "$3" "$BATS_TEST_TMPDIR/jail.out" ||
        { echo "$1: should say '$3', and not:" >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
}
