# SPDX-License-Identifier: MIT
# Shared by the tests of Slurm. Every claim has a control: the same user runs the same command outside first, where it must succeed;
# inside it is refused. Expectations (works, fails, prints, refused, wait_until) are those of the jail tests.

if [[ -z ${CLUSTER:-} ]]; then
    echo "start these tests with scripts/test-slurm" >&2
    exit 1
fi
load ../jail/helper

# A project in an otherwise empty home directory and an empty queue.
start_slurm_test() {
    empty_queue
    start_test
}

# A job that a test left running would write into the next test's home directory.
end_slurm_test() {
    empty_queue || squeue >&2
    end_test
}

empty_queue() {
    [[ -z $(squeue --me --noheader) ]] || scancel --me --signal=KILL --full || true
    scancel --me || true
    wait_until is_queue_empty
}
is_queue_empty() { [[ -z $(squeue --me --noheader --format=%i) ]]; }

# outside COMMAND...: the real command, for control runs; the name shows that a line of a test runs outside.
outside() { "$@"; }

# make_script NAME LINE...: a batch script in the project.
make_script() {
    local name=$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$name"
    chmod 0755 "$name"
}

# submit OPTION...: submits with sbatch outside; JOB gets the job's number.
submit() {
    JOB=$(outside sbatch --parsable "$@") || return
    JOB=${JOB%%;*}
    [[ $JOB =~ ^[0-9]+$ ]]
}

job_state() { squeue --noheader --states=all --jobs="$1" --format=%T | sort -u; }

# wait_for_job JOB [STATE]: waits until no task of it is pending or running; then it must be in this state (COMPLETED).
wait_for_job() {
    wait_until is_job_over "$1" || { squeue --states=all --jobs="$1" >&2; return 1; }
    [[ $(job_state "$1") == "${2:-COMPLETED}" ]] || { scontrol show job "$1" >&2; return 1; }
}
is_job_over() { [[ ! $(job_state "$1") =~ PENDING|CONFIGURING|RUNNING|COMPLETING|SUSPENDED ]]; }

# wait_for_state JOB STATE
wait_for_state() { wait_until has_state "$1" "$2" || { scontrol show job "$1" >&2; return 1; }; }
has_state() { [[ $(job_state "$1") == "$2" ]]; }

# The controller sends an ended job to the database with a delay.
wait_for_accounting() { wait_until is_accounted "$1"; }
is_accounted() { [[ -n $(sacct --noheader --allocations --jobs="$1" --format=End --parsable2 | grep -v Unknown) ]]; }

# ranks_work SIDE WORDS...: srun with these words, outside or inside. Debian's MPICH (4.0.2) may hang in MPI_Finalize over a
# network, in a jail or not: a faster rank waits in a barrier of PMI and no longer answers a rank that still closes its connections.
# Later versions do not have that barrier. A hung run is tried again; a run that always hangs fails.
ranks_work() {
    local side=$1
    shift
    for _ in 1 2 3 4 5; do
        run "$side" timeout 30 srun "$@"
        ((status == 124)) || break
        wait_until is_queue_empty
    done
    ((status == 0)) || report "should work: $side srun $*"
}
