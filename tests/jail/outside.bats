#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a session could write never runs outside: programs, and files that programs load. A planted program leaves a file in the home
# directory if it runs outside; inside, that directory is the jail's own.

load helper

setup() {
    start_test
    OUTSIDE=$HOME/ran-outside
}
teardown() { end_test; }

# plant FILE: a program that tells where it runs.
plant() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\necho "$(basename "$0") $*" >>"%s"\necho "planted: $*"\n' "$OUTSIDE" >"$1"
    chmod 0755 "$1"
}

# nothing_ran WHAT...
nothing_ran() {
    [[ ! -e $OUTSIDE ]] || { output=$(<"$OUTSIDE"); leak "ran outside: $*"; }
}

ran_outside() {
    [[ -e $OUTSIDE ]] || report "the control: $*"
    rm "$OUTSIDE"
}

@test "a file of the project with the name of a Slurm command runs inside" {
    local name word
    for name in srun sbatch salloc; do
        for word in "./$name" "sub/$name" "$PROJECT/$name" "../project/$name"; do
            plant "$word"
            works "$word" outside
            ran_outside "$word"
            run "$SBX_PROGRAM" --quiet --network isolated "$word" --help
            nothing_ran "$word"
            [[ $status == 0 && $output == "planted: --help" ]] || report "should run inside: $word"
        done
    done
}

@test "srun and sbatch in PATH are not the jail's" {
    local name
    for name in srun sbatch; do
        plant "bin/$name"
        plant "$HOME/bin/$name"
        works env PATH="$PROJECT/bin:$PATH" "$name" outside
        ran_outside "$name"
        for path in "$PROJECT/bin" bin . "" "$HOME/bin"; do
            run env PATH="$path:$PATH" "$SBX_PROGRAM" --quiet --network isolated "$name" --version
            nothing_ran "PATH=$path $name"
            run env PATH="$path" "$SBX_PROGRAM" --quiet --network isolated "$name" -n1 true
            nothing_ran "only PATH=$path $name"
        done
    done
}
