# SPDX-License-Identifier: MIT
# A job of a session with modules (modules.load) has them too: its node loads them itself.

load compare
setup() {
    start_slurm_test
    SITE=$SBX_STAGE/tests/jail/site
    export MODULEPATH=$SITE/modulefiles/Core
}
teardown() { end_slurm_test; }

with_modules() { "$SBX_PROGRAM" --quiet --module compiler --module solver -- "$@"; }

@test "steps and batch jobs find the software of the session's modules" {
    fails "" inside srun -Q solver
    prints solved with_modules srun -Q solver
    make_script job solver
    works with_modules sbatch --wait --output=out job
    [[ $(cat out) == solved ]] || report "$(cat out)"
}

@test "a job whose module can't be loaded on its node fails before its script runs" {
    cp -r "$SITE" ~/site
    export MODULEPATH=$HOME/site/modulefiles/Core
    make_script job 'touch ran'
    works "$SBX_PROGRAM" --quiet --module compiler -- sh -c 'sbatch --parsable --hold --output=out job >number'
    rm -r ~/site/modulefiles
    outside scontrol release "$(cat number)"
    wait_for_job "$(cat number)" FAILED
    [[ ! -e ran ]] || report "the job ran without its module"
}
