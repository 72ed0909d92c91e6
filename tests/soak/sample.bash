# SPDX-License-Identifier: MIT
# Shared by the worlds of the soak: a session that runs orders, and the counts of each round. Sourced by tests/soak/host, network and
# slurm.
#
# It takes a sample when the round is over and the load has stopped, so that counts can be compared exactly: anything that is open then
# stays open. Lines on descriptor 8: the minute, the kind, the name, the value.

say() { printf '%s %s: %s\n' "$(date -u +%T)" "$WORLD" "$*" >&2; }
fail() { say "FAILED: $*"; printf '%s\t%s\t%s\t%s\n' "${MINUTE:-0}" failure "$WORLD" "${*//$'\n'/ }" >&8; }

as_user() { "${AS_USER[@]}" "$@"; }

# Everything that a session could leave behind is in directories of this world only.
make_places() {
    USER_HOME=/home/$SBX_USER
    RUNTIME=$CONTROL/runtime
    install -d -m 0700 -o "$SBX_USER" "$RUNTIME"
    install -d -o "$SBX_USER" "$USER_HOME/project"
    AS_USER=(
        setpriv --reuid="$SBX_USER" --regid="$SBX_USER" --init-groups env -i HOME="$USER_HOME" USER="$SBX_USER" LOGNAME="$SBX_USER"
        XDG_RUNTIME_DIR="$RUNTIME" PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C TERM=dumb
    )
    cd "$USER_HOME/project" || return
}

# start_session OPTION... -- COMMAND...: the long-lived session. It reads a line for each round and answers with one.
start_session() {
    mkfifo "$CONTROL/orders" "$CONTROL/answers"
    # Opened both ways, so that neither side waits for the other to open.
    exec 6<>"$CONTROL/orders" 7<>"$CONTROL/answers"
    "${AS_USER[@]}" "$PROGRAM" "$@" <&6 >&7 2>"$CONTROL/session.err" 6<&- 7<&- 8<&- &
    SUPERVISOR=$!
}

begin_round() { [[ -z ${SUPERVISOR:-} ]] || echo round >&6; }

# The first word is the number of actions; the others name those that failed.
end_round() {
    local acts wrong
    [[ -n ${SUPERVISOR:-} ]] || return 0
    read -r -t 300 acts wrong <&7 || { fail "the session does not answer"; tail -n 5 "$CONTROL/session.err" >&2; return 1; }
    ACTS=$((${ACTS:-0} + acts))
    [[ -z $wrong ]] || fail "$wrong"
}

end_session() {
    exec 6>&-
    kill -TERM "$SUPERVISOR" 2>/dev/null || true
    wait "$SUPERVISOR" || true
}

descendants() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

# The session's own processes, each with its role: PID NAME. The helpers and the keeper have their own names; the stage has the
# supervisor's name.
parts() {
    local process name
    echo "$SUPERVISOR supervisor"
    for process in $(descendants "$SUPERVISOR"); do
        [[ $(readlink "/proc/$process/exe") == "$PROGRAM" ]] || continue
        name=$(<"/proc/$process/comm") 2>/dev/null || continue
        if [[ $name == asb-* ]]; then
            echo "$process ${name#asb-}"
        else
            echo "$process stage"
        fi
    done
}

# Only its own memory: pages that other processes map as well, such as the program's text, change with those processes.
memory_of() { awk '/^Rss(Anon|Shmem):/ { sum += $2 } END { print sum + 0 }' "/proc/$1/status"; }

# Records of sessions and of jobs stay for thirty days: one a session, three a job at most.
KEPT=(.local/state/agent-sandbox/sessions .local/state/agent-sandbox/slurm)
count() { find "$@" 2>/dev/null | wc -l; }

put() { printf '%s\t%s\t%s\t%s\n' "$MINUTE" "$1" "$2" "$3" >&8; }

sample() {
    local process name
    while read -r process name; do
        put memory "$name, $WORLD" "$(memory_of "$process")"
        put descriptors "descriptors of the $name, $WORLD" "$(find "/proc/$process/fd" -mindepth 1 | wc -l)"
    done < <([[ -z ${SUPERVISOR:-} ]] || parts)
    put count "processes, $WORLD" "$(pgrep -u "$SBX_USER" | wc -l)"
    put count "files, $WORLD" "$(count "$USER_HOME" "$RUNTIME" /tmp /dev/shm \
        \( -path "$USER_HOME/${KEPT[0]}" -o -path "$USER_HOME/${KEPT[1]}" \) -prune -o -user "$SBX_USER" -print)"
    put count "mounts, $WORLD" "$(grep -c "${MOUNTS_LIKE:-}" /proc/self/mountinfo)"
    put kept "records, $WORLD" "$(count "${KEPT[@]/#/"$USER_HOME/"}" -type f)"
}

# The keeper cleans up a killed session in the background, and on a busy machine the remaining processes may end late.
quiet_down() {
    local deadline=$((SECONDS + 60)) before=-1 now
    until now=$(pgrep -c -u "$SBX_USER" || true) && ((now == before)); do
        before=$now
        ((SECONDS < deadline)) || break
        sleep 2
    done
}

# soak MINUTES: a round each minute, or longer on a busy machine; each world defines its own `other_load`.
soak() {
    local next=$SECONDS
    for ((MINUTE = 1; MINUTE <= $1; ++MINUTE)); do
        next=$((next + 60))
        [[ -z ${SUPERVISOR:-} ]] || kill -0 "$SUPERVISOR" 2>/dev/null || { fail "the session ended: $(tail -n 1 "$CONTROL/session.err")"; return 1; }
        begin_round
        other_load
        end_round || return
        quiet_down
        sample
        ((MINUTE % 5 != 1)) || say "minute $MINUTE, ${ACTS:-0} acts, ${LAUNCHES:-0} launches"
        ((SECONDS >= next)) || sleep $((next - SECONDS))
    done
}

# ---- Launches --------------------------------------------------------------------------------------------------------------

MODES=(open filtered proxied isolated)

# launch BACKEND MODE
launch() {
    as_user "$PROGRAM" --quiet --require absent --backend "$1" --network "$2" -- /bin/true >"$CONTROL/launch.out" 2>&1 </dev/null 6<&- 7<&- 8<&- ||
        fail "launch by $1, $2: $(head -n 1 "$CONTROL/launch.out")"
}

# killed BACKEND MODE: kills it by SIGKILL, once the command runs.
killed() {
    local process
    rm -f here
    "${AS_USER[@]}" "$PROGRAM" --quiet --require absent --backend "$1" --network "$2" -- /bin/sh -c 'touch here; exec sleep 60' \
        >"$CONTROL/launch.out" 2>&1 </dev/null 6<&- 7<&- 8<&- &
    process=$!
    for _ in {1..600}; do
        [[ ! -e here ]] || break
        sleep 0.05
    done
    [[ -e here ]] || fail "no start by $1, $2: $(head -n 1 "$CONTROL/launch.out")"
    kill -KILL "$process"
    wait "$process" 2>/dev/null
    rm -f here
}

# launches BACKEND...: launches each in every mode, spread over the round. It kills one in four, a different one each round.
launches() {
    local backend mode number=0 pause
    pause=$(awk -v seconds="${SOAK_SECONDS:-45}" -v launches=$(($# * ${#MODES[@]})) 'BEGIN { print seconds / launches }')
    for backend; do
        for mode in "${MODES[@]}"; do
            if (((number++ + MINUTE) % 4 == 0)); then killed "$backend" "$mode"; else launch "$backend" "$mode"; fi
            LAUNCHES=$((${LAUNCHES:-0} + 1))
            sleep "$pause"
        done
    done
}

# ---- The end -----------------------------------------------------------------------------------------------------------------

# No process of the user runs, and the runtime directories are empty.
check_end() {
    local left
    left=$(pgrep -a -u "$SBX_USER" | head -n 5)
    for _ in {1..20}; do
        [[ -n $left ]] || break
        sleep 0.5
        left=$(pgrep -a -u "$SBX_USER" | head -n 5)
    done
    [[ -z $left ]] || fail "still running at the end: $left"
    left=$(find "$RUNTIME" /tmp /dev/shm -mindepth 1 -user "$SBX_USER" | grep -Ev "^$RUNTIME/agent-sandbox(/sessions)?$" | head -n 5)
    [[ -z $left ]] || fail "left at the end: $left"
    say "done: ${ACTS:-0} acts, ${LAUNCHES:-0} launches"
}
