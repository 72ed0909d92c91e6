# SPDX-License-Identifier: MIT
# Sourced by the benchmarks: an ordinary user to measure as, a folder for the programs, rounds of measurement, and tables.
#
#     . bench/stage.bash
#     begin launch                  # $user, $home, $stage (programs, readable by everyone), $results (the user's); all of it is removed at the end
#     measure all 5 --command-name plain /bin/true …
#     rows all plain | TITLE=… UNIT=ms record_and_show launch
#
# Rounds: every round measures all contestants in turn, so that a slow moment of the machine affects all of them.
. scripts/throwaway.bash
. bench/record.bash

program=${SBX_PROGRAM:-build/agent-sandbox}
user=$(id -un)
home=$HOME
stage=
results=
services=()

# Additional cleanup; a benchmark may define its own.
remove_work() { :; }

clean_up() {
    local process
    for process in "${services[@]}"; do kill "$process" 2>/dev/null || true; done
    remove_work
    umount "$stage/npm" 2>/dev/null || true
    [[ -z $results ]] || rm -rf -- "$results"
    # Other tools leave files there, and the next account may have the same uid.
    ((EUID != 0)) || find /tmp /dev/shm -maxdepth 1 -user "$user" -exec rm -rf -- {} + 2>/dev/null || true
    # An account can't be removed before its last process has exited.
    ((EUID != 0)) || wait_for 10 user_is_gone || echo "the user $user is still there" >&2
    [[ -z $stage ]] || rm -rf -- "$stage"
}

user_is_gone() {
    remove_user "$user"
    ! id "$user"
}

begin() { # NAME
    [[ -x $program ]] || { echo "bench/$1: $program is not there; 'make build' makes it" >&2; exit 1; }
    if ((EUID == 0)); then
        user=sbx-$(random_tag)
        clean_up_at_the_end
        make_user "$user"
        home=$(home_of "$user")
        stage=$(mktemp -d "/opt/agent-sandbox-$1.XXXXXX")
        chmod 0755 "$stage"
    else
        clean_up_at_the_end
        stage=$(mktemp -d)
    fi
    install -m 0755 "$program" "$stage/agent-sandbox"
    results=$(as_caller mktemp -d)
    ours="$stage/agent-sandbox --quiet"
}

# in_own_mounts WORDS...: runs the script again, as root, in a mount namespace that removes its mounts when it ends.
in_own_mounts() {
    local name=bench/${0##*/}
    [[ -z ${BENCH_OWN_MOUNTS:-} ]] || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null || { echo "$name: a user of its own needs root; run it as root or install sudo" >&2; exit 1; }
        exec sudo --preserve-env=ROUNDS,RUNS,FIGURES,SBX_PROGRAM,BENCH_TOOLS,BEFORE -- "$0" "$@"
    fi
    BENCH_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
}

as_caller() { if ((EUID == 0)); then as_throwaway "$user" "$@"; else env "$@"; fi; }

# measure NAME ROUNDS WORDS_OF_HYPERFINE...: the times of these commands, in rounds of $runs each. A command that fails once is still
# measured: firejail sometimes loses a race with itself.
measure() {
    local folder=$results/$1 count=$2 round
    shift 2
    as_caller mkdir -p "$folder"
    for ((round = 1; round <= count; ++round)); do
        as_caller hyperfine --shell=none --warmup 2 --runs "$runs" --ignore-failure --style none --export-json "$folder/$round.json" "$@" >/dev/null 2>&1
    done
}

# rows NAME REFERENCE: the measurements of this name as a table, in milliseconds, with the ratio to one of the commands.
rows() { python3 bench/summary.py "$2" "$results/$1"/*.json; }

# record_and_show NAME: stores the table and prints it.
record_and_show() {
    local table
    table=$(cat)
    record "$1" <<<"$table"
    printf '%s\n' "${TITLE:-$1}" ""
    column -t -s $'\t' <<<"$table"
    echo
}

# The command line of a process, with a blank after each word; nothing if it has just exited.
words_of() { { tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null || true; }

# memory_of_user PATTERN: KiB of all current processes of the user, except those whose whole command line matches. Proportional set size: a
# shared page counts once.
memory_of_user() {
    local process sum=0 size
    for process in $(pgrep -U "$user"); do
        [[ ! $(words_of "$process") =~ ^($1)\ $ ]] || continue
        size=$(awk '/^Pss:/ { print $2 }' "/proc/$process/smaps_rollup" 2>/dev/null) || continue
        sum=$((sum + ${size:-0}))
    done
    echo "$sum"
}

wait_for() { # SECONDS COMMAND...: false if it did not succeed in time
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}
