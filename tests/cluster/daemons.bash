# SPDX-License-Identifier: MIT
# The daemons of the cluster, each identified by its process id and the start time of that process. Sourced by tests/cluster/run and
# control.

# Polls for at most 180 seconds.
wait_for() {
    local deadline=$((SECONDS + 180))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || { echo "cluster: waited in vain for: $*" >&2; return 1; }
        sleep 0.02
    done
}

# Field 22 of stat, counted after the name, which may contain blanks. Prints nothing for a process that has ended or is a zombie.
start_time() {
    local stat fields
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    read -ra fields <<<"${stat##*) }"
    [[ ${fields[0]} != Z ]] && echo "${fields[19]}"
}

# start NAME COMMAND...
start() {
    local name=$1
    shift
    ! is_running "$name" || return 0
    "$@" </dev/null >>"$CLUSTER/log/$name.out" 2>&1 9>&- &
    echo "$! $(start_time $!)" >"$CLUSTER/pids/$name"
    # Otherwise the shell would print a line when each one ends.
    disown
}

is_running() {
    local process began
    read -r process began 2>/dev/null <"$CLUSTER/pids/$1" && [[ $(start_time "$process") == "$began" ]]
}
is_over() { ! is_running "$1"; }

# stop NAME [SIGNAL]: sends SIGNAL, and SIGKILL if the daemon does not end within the limit of wait_for.
stop() {
    local process rest
    is_running "$1" || return 0
    read -r process rest <"$CLUSTER/pids/$1"
    kill "-${2:-TERM}" "$process"
    wait_for is_over "$1" || { kill -KILL "$process" && wait_for is_over "$1"; }
}

# ---- munge -----------------------------------------------------------------------------------------------------------

start_munge() {
    start munged munged --foreground --force --key-file=/etc/munge/munge.key --socket=/run/munge/munge.socket.2 \
        --pid-file="$CLUSTER/state/munged.pid" --log-file="$CLUSTER/log/munged" --seed-file="$CLUSTER/state/munged.seed"
    wait_for munge --no-input
}
stop_munge() { stop munged; }

# ---- The controller --------------------------------------------------------------------------------------------------

start_controller() {
    start slurmctld slurmctld -D
    wait_for is_controller_up
}
stop_controller() { stop slurmctld; }
is_controller_up() { [[ $(scontrol ping) == *"is UP"* ]]; }

# ---- Nodes -----------------------------------------------------------------------------------------------------------

# The shell is the first process of the node, because slurmd does not reap orphans. Users see the home directories, the program and
# munge's socket at the same path everywhere, as on a site; each node has its own temporary directories.
start_node() {
    local node=$1
    mkdir -p "$CLUSTER/spool/$node"
    start "$node" unshare --pid --fork --kill-child --mount --propagation private --uts --ipc --mount-proc bash -c '
        hostname "$1"
        mount -t tmpfs -o mode=1777 tmpfs /tmp
        mount -t tmpfs -o mode=1777 tmpfs /dev/shm
        cd /
        slurmd -D -N "$1" &
        wait' node "$node"
}
# As if its power were cut: kills everything that runs there.
stop_node() { stop "$1" KILL; }

has_idle_nodes() { [[ $(sinfo --noheader --states=idle --format=%D --partition=debug) == "${#NODES[@]}" ]]; }

# ---- The whole cluster -----------------------------------------------------------------------------------------------

start_cluster() {
    local node
    start_munge
    ! has_accounting || start_accounting
    for node in "${NODES[@]}"; do start_node "$node"; done
    start_controller
    wait_for has_idle_nodes
    start doorkeeper python3 "$CLUSTER/bin/doorkeeper.py" "$CLUSTER/control.sock" "$CLUSTER/bin/control"
    wait_for test -S "$CLUSTER/control.sock"
}
