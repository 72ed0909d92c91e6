#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Slurm where Landlock alone builds the jail: the stubs come first in PATH. The real commands, which Landlock can't cover, reach
# neither munge nor the cluster. (firejail refuses to work inside the namespaces of this cluster's nodes.)

load compare
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

# The backend prints at each start what it does not enforce.
in_jail() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@" 2> >(grep -v "not held by this backend" >&2); }

@test "jobs are submitted, seen and run in a jail by Landlock as well" {
    make_script job.sh 'echo "by $AGENT_SANDBOX_BACKEND"; echo x >~/written; exit 0'
    JAIL=(--backend landlock)
    works sbatch --wait job.sh
    wait_until test -e ~/written
    rm ~/written
    prints "" inside squeue --noheader
    works inside sbatch --parsable --output=job.out job.sh
    wait_until test -s job.out
    wait_until is_queue_empty
    [[ ! -e ~/written ]] || leak "was written: $(<job.out)"
    [[ $(<job.out) == *"by landlock"* ]] || report "$(<job.out)"
    prints "by landlock" inside srun -Q sh -c 'echo "by $AGENT_SANDBOX_BACKEND"'
}

@test "the real commands reach neither munge nor the cluster" {
    JAIL=(--backend landlock --network open)
    works "$(type -P squeue)" --noheader
    works "$(type -P srun)" true
    works munge -n
    fails "" inside "$(type -P squeue)" --noheader
    fails "" inside "$(type -P srun)" true
    fails "" inside munge -n
}
