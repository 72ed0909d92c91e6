#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The commands that `agent-sandbox help slurm` shows, run unchanged on a cluster.

load helper
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

@test "every command of help slurm works on a cluster" {
    local command wanted
    local -a commands
    mkdir -p bin
    ln -s "$SBX_PROGRAM" bin/agent-sandbox
    mapfile -t commands < <("$SBX_PROGRAM" help slurm | sed -n 's/^  \(agent-sandbox .*\)$/\1/p')
    ((${#commands[@]} >= 4))
    for command in "${commands[@]}"; do
        wanted=0
        [[ $command != *" why slurm "* ]] || wanted=1
        run env PATH="$PWD/bin:$PATH" bash -c "$command" </dev/null
        [[ $status == "$wanted" ]] || report "help slurm: $command"
    done
}
