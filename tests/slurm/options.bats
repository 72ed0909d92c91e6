# SPDX-License-Identifier: MIT
# The option tables that the unit tests use are those of the clients on this machine.

load helper
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

here=$BATS_TEST_DIRNAME

@test "the recorded option tables are those of the clients" {
    [[ $(sbatch --version) == *" 22.05."* ]] || skip "recorded from 22.05; this is $(sbatch --version)"
    "$here/record-options" >recorded
    works diff "$here/data/options-22.05.list" recorded
}
