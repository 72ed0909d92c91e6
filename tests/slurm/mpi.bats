# SPDX-License-Identifier: MIT
# MPI ranks, each in a jail. cluster.bats shows that the same programs work outside.

load compare
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

# No file of a job stays on its nodes; a plain step looks there.
expect_clean_nodes() {
    works srun --quiet --nodes=4 --ntasks=4 sh -c 'ls -d "/tmp/.agent-sandbox-$(id -u)"-* "/dev/shm/.agent-sandbox-$(id -u)"-* 2>/dev/null || true'
    [[ -z ${output//$'\n'/} ]] || report "left behind on a node"
}

@test "MPICH: four ranks on one node, by a descriptor and shared memory, with the network closed as usual" {
    run inside srun --quiet --mpi=pmi2 --nodes=1 --nodelist=node0 --ntasks=4 "$SBX_STAGE/bin/hello-mpich"
    ((status == 0)) || report "four ranks"
    [[ $(grep -c '^rank [0-3] of 4 on node0, sum 6$' <<<"$output") == 4 ]] || report "four ranks"
    expect_clean_nodes
}

@test "MPICH: two ranks on two nodes, with the network open" {
    JAIL=(--network open)
    ranks_work inside --quiet --mpi=pmi2 --nodes=2 --nodelist="node[0-1]" --ntasks=2 "$SBX_STAGE/bin/hello-mpich"
    [[ $(grep '^rank' <<<"$output" | sort) == $'rank 0 of 2 on node0, sum 1\nrank 1 of 2 on node1, sum 1' ]] || report "two ranks"
    expect_clean_nodes
}

@test "Open MPI: four ranks on two nodes, by a socket, with the network open" {
    JAIL=(--network open)
    works inside srun --quiet --mpi=pmix --nodes=2 --nodelist="node[0-1]" --ntasks=4 --ntasks-per-node=2 "$SBX_STAGE/bin/hello-openmpi"
    [[ $(grep -c "of 4 on node[01], sum 6" <<<"$output") == 4 ]] || report "four ranks"
    expect_clean_nodes
}

# NCCL passes descriptors this way: datagrams between abstract names that both sides compute.
@test "ranks of one job on one node find each other by abstract sockets, and no other process does" {
    cat >names.py <<'PYTHON'
import os, socket, time
rank = int(os.environ["SLURM_PROCID"])
def name(of): return f"\0agent-sandbox-test-{os.environ['SLURM_JOB_ID']}-{of}"
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.bind(name(rank))
while True:
    try:
        own.sendto(b"from %d" % rank, name(1 - rank))
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
print(rank, own.recv(16).decode(), flush=True)
open(f"met-{rank}", "w").write(name(rank)[1:])
while not os.path.exists("done"): time.sleep(0.02)
PYTHON
    cat >reach.py <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try: s.connect("\0" + sys.argv[1]); print("reached")
except OSError as error: print(error.strerror)
PYTHON
    local where expected
    # The control: outside the jails the names are the node's.
    for where in outside inside; do
        rm -f done met-0 met-1
        JAIL=(--network open)
        "$where" srun --quiet --nodelist=node0 --ntasks=2 --overlap python3 names.py >out 3>&- &
        CHILDREN+=($!)
        wait_until test -s met-0
        wait_until test -s met-1
        [[ $where == outside ]] && expected=reached || expected="Connection refused"
        prints "$expected" srun --quiet --nodelist=node0 --overlap python3 reach.py "$(cat met-0)"
        touch done
        wait "${CHILDREN[-1]}"
        prints $'0 from 1\n1 from 0' sort out
    done
}

@test "ranks in a batch job" {
    make_script job.sh "srun --quiet --mpi=pmi2 $SBX_STAGE/bin/hello-mpich"
    submit_inside --ntasks=2 --nodes=1 --nodelist=node0 --output=out job.sh
    wait_for_job "$JOB"
    [[ $(grep -c '^rank [01] of 2 on node0, sum 1$' out) == 2 ]] || { output=$(cat out) report "two ranks"; }
}

# Two ranks on node0 that wait for each other's files and write the names that they found; they exit when the file "done" exists.
start_ranks() {
    cat >rank.sh <<'SH'
#!/bin/bash
touch "/tmp/rank-$SLURM_PROCID" "/dev/shm/rank-$SLURM_PROCID"
for _ in {1..5000}; do
    [[ -e /tmp/rank-0 && -e /tmp/rank-1 && -e /dev/shm/rank-0 && -e /dev/shm/rank-1 ]] && break
    sleep 0.02
done
[[ $SLURM_PROCID == 0 ]] || { while [[ ! -e done ]]; do sleep 0.02; done; exit 0; }
echo $(ls /tmp /dev/shm | grep ^rank) >met
while [[ ! -e done ]]; do sleep 0.02; done
SH
    chmod +x rank.sh
    inside srun --quiet --nodelist=node0 --ntasks=2 ./rank.sh 3>&- &
    CHILDREN+=($!)
    wait_until test -s met
}

@test "ranks of one job on one node share /tmp and /dev/shm; another job does not see them" {
    start_ranks
    prints "rank-0 rank-1 rank-0 rank-1" cat met
    # The control: outside the jails a process can find it.
    works srun --quiet --nodelist=node0 sh -c 'ls /tmp/.agent-sandbox-*/*/rank-0'
    prints "" inside srun --quiet --nodelist=node0 sh -c 'find /tmp /dev/shm -name "rank-*" 2>/dev/null; ls -d /tmp/.agent-sandbox-* 2>/dev/null || true'
    touch done
    wait "${CHILDREN[0]}"
    expect_clean_nodes
}

@test "another user's directories on the node do not affect the shared /tmp of a job" {
    works "$CLUSTER/bin/control" squat-neighbour
    # The control: they exist, and the other user owns them.
    prints "$SBX_NEIGHBOUR" srun --quiet --nodelist=node0 sh -c 'stat -c %U "/tmp/.agent-sandbox-$(id -u)"'
    start_ranks
    prints "rank-0 rank-1 rank-0 rank-1" cat met
    touch done
    wait "${CHILDREN[0]}"
    works "$CLUSTER/bin/control" leave-neighbour
    expect_clean_nodes
}

