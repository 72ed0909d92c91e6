# SPDX-License-Identifier: MIT
# The cluster itself, outside any jail: the behaviour that the other tests assume, and the controls of the attacks.

load helper
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

@test "four nodes are idle" {
    prints "node0 node1 node2 node3" sh -c 'sinfo --noheader --Node --partition=debug --states=idle --format=%N | xargs'
    prints "4(debug*) 4(other)" sh -c 'sinfo --noheader --format="%D(%P)" | xargs'
}

@test "a node is a host with its own name, processes and temporary files, and the same home directories" {
    echo "seen everywhere" >shared
    touch /tmp/login-only /dev/shm/login-only
    works srun --nodes=4 sh -c 'hostname; cat shared; test -e /tmp/login-only || test -e /dev/shm/login-only || echo own'
    [[ $(grep -c '^node[0-3]$' <<<"$output") == 4 && $(sort -u <<<"$output" | grep -c '^node') == 4 ]] || report "four hosts"
    [[ $(grep -cx "seen everywhere" <<<"$output") == 4 && $(grep -cx own <<<"$output") == 4 ]] || report "what is shared"
    prints "$(id -u)" srun --quiet id -u
    works srun ps -e -o comm=
    [[ $output != *slurmctld* ]] || report "processes of the login node"
    rm /tmp/login-only /dev/shm/login-only
}

@test "sbatch runs a script and writes its output where it was submitted" {
    make_script job.sh 'echo "in $(pwd) on $(hostname) as $SLURM_JOB_NAME: $*"'
    submit job.sh one "two three"
    wait_for_job "$JOB"
    prints "in $PROJECT on node0 as job.sh: one two three" cat "slurm-$JOB.out"
}

@test "sbatch takes a script from standard input, and directives" {
    submit --output=%x.out <<<$'#!/bin/sh\n#SBATCH --job-name=named --nodes=2\necho $SLURM_JOB_NUM_NODES'
    wait_for_job "$JOB"
    prints 2 cat named.out
}

@test "a job that fails has its state and its exit code" {
    make_script job.sh 'exit 7'
    submit job.sh
    wait_for_job "$JOB" FAILED
    works scontrol show job "$JOB"
    [[ $output == *ExitCode=7:0* ]] || report "the exit code"
    run -7 outside sbatch --wait job.sh
}

@test "srun streams both ways and ends as its task" {
    mkfifo to from
    srun --quiet cat <to >from 3>&- &
    CHILDREN+=($!)
    exec 4>to 5<from
    local line
    for line in one two; do
        echo "$line" >&4
        read -r -t 10 -u 5 REPLY
        [[ $REPLY == "$line" ]]
    done
    exec 4>&- 5<&-
    wait "${CHILDREN[0]}"
    run -3 srun --quiet sh -c 'exit 3'
}

@test "salloc runs its command here and its steps there" {
    works salloc --quiet --nodes=2 sh -c 'hostname; srun hostname | sort'
    [[ $output == $'login\nnode0\nnode1' ]] || report "one on the login node, two on nodes"
}

@test "an array has tasks" {
    make_script job.sh 'echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_JOB_ID"'
    submit --array=1-3 job.sh
    wait_for_job "$JOB"
    prints "1 of $JOB 2 of $JOB 3 of $JOB" sh -c "cat slurm-${JOB}_?.out | xargs"
}

@test "a dependency waits" {
    make_script first.sh 'sleep 0.5; echo first >>order'
    make_script second.sh 'echo second >>order'
    submit first.sh
    submit --dependency="afterok:$JOB" second.sh
    wait_for_job "$JOB"
    prints "first second" xargs -a order
}

@test "squeue shows own jobs, scancel ends them" {
    submit --wrap="sleep 60"
    wait_for_state "$JOB" RUNNING
    prints "$JOB" squeue --me --noheader --format=%i
    works scancel "$JOB"
    wait_for_job "$JOB" CANCELLED
}

@test "hold, release and update change a job" {
    submit --hold --wrap=true
    prints PENDING job_state "$JOB"
    works scontrol update "JobId=$JOB" Comment=changed
    prints changed squeue --noheader --jobs="$JOB" --format=%k
    works scontrol release "$JOB"
    wait_for_job "$JOB"
}

@test "the database has the job, with its comment and its account" {
    submit --comment="a comment; with 'signs'" --wrap=true
    wait_for_job "$JOB"
    wait_for_accounting "$JOB"
    prints "$JOB|$SBX_USER|lab|COMPLETED|a comment; with 'signs'" \
        sacct --noheader --allocations --parsable2 --jobs="$JOB" --format=JobID,User,Account,State,Comment
}

@test "the database has the cluster, the accounts and the neighbour" {
    prints testcluster sacctmgr --noheader --parsable2 show cluster format=Cluster
    prints "$SBX_NEIGHBOUR|lab2" sacctmgr --noheader --parsable2 show user "$SBX_NEIGHBOUR" format=User,DefaultAccount
    works sshare --all --noheader
    works sreport cluster utilization
}

@test "sstat, sprio and sdiag answer" {
    submit --wrap="srun --quiet sleep 60"
    wait_for_state "$JOB" RUNNING
    wait_until sstat --noheader --jobs="$JOB.batch" --format=JobID
    works sprio
    works sdiag
    [[ $output == *"Remote Procedure Call statistics by user"* ]] || report "the part about users"
}

@test "MPICH works over two nodes by a descriptor (pmi2)" {
    ranks_work outside --mpi=pmi2 --nodes=2 --nodelist="node[0-1]" --ntasks=2 "$SBX_STAGE/bin/hello-mpich"
    [[ $(sort <<<"$output") == $'rank 0 of 2 on node0, sum 1\nrank 1 of 2 on node1, sum 1' ]] || report "two ranks"
}

@test "Open MPI works over two nodes by a socket (pmix)" {
    works srun --mpi=pmix --nodes=2 --nodelist="node[0-1]" --ntasks=4 --ntasks-per-node=2 "$SBX_STAGE/bin/hello-openmpi"
    [[ $(grep -c "of 4 on node[01], sum 6" <<<"$output") == 4 ]] || report "four ranks"
}

@test "bubblewrap works on the nodes" {
    prints "in a jail" srun --quiet bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp echo "in a jail"
    submit --output=job.out --wrap="bwrap --unshare-all --ro-bind / / --proc /proc true && echo yes"
    wait_for_job "$JOB"
    prints yes cat job.out
}

@test "munge gives credentials to every process that reaches its socket" {
    works sh -c 'munge --no-input | unmunge'
    [[ $output == *"$SBX_USER"* ]] || report "the user in the credential"
    works srun --quiet sh -c 'munge --no-input | unmunge'
}

@test "control can stop and start the controller" {
    submit --hold --wrap=true
    works "$CLUSTER/bin/control" stop-controller
    fails "Unable to contact slurm controller" squeue --me
    works "$CLUSTER/bin/control" start-controller
    prints "$JOB" squeue --me --noheader --format=%i
    works "$CLUSTER/bin/control" restart-controller
    fails "one of" "$CLUSTER/bin/control" anything-else
}

@test "control can stop and start munge" {
    works "$CLUSTER/bin/control" stop-munge
    fails "munge" squeue --me
    works "$CLUSTER/bin/control" start-munge
    works squeue --me
}

@test "control can stop and start a node" {
    submit --nodelist=node3 --wrap="sleep 60"
    wait_for_state "$JOB" RUNNING
    works "$CLUSTER/bin/control" stop-node node3
    scancel "$JOB"
    works "$CLUSTER/bin/control" start-node node3
    prints node3 srun --quiet --nodelist=node3 hostname
}
