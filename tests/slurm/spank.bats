#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Options that a plug-in of the site adds (SPANK): refused inside, until the administrator or the user permits them by name. The plug-in
# (spank_site.c) is a real one, and writes which options reached the client and the node.

load helper
load compare
setup() {
    start_slurm_test
    "$CLUSTER/bin/control" add-plugin
    mkdir -p "$HOME/.config/agent-sandbox"
}
teardown() {
    "$CLUSTER/bin/control" remove-plugin
    end_slurm_test
}

permit() { printf '[slurm]\nspank_options = [%s]\n' "$1" >"$HOME/.config/agent-sandbox/config.toml"; }
# reached TEXT: the plug-in saw this on a node since the last call.
reached() {
    wait_until grep -qxF "node $1" "$CLUSTER/log/spank" || { cat "$CLUSTER/log/spank" >&2; report "did not reach the node: $1"; }
    : >"$CLUSTER/log/spank"
}

@test "control: outside, the options of a plug-in reach the node" {
    works outside srun --site-flag --site-color=red --site-mode=fast true
    reached "site-color red"
    works outside srun --site-flag true
    reached "site-flag -"
    submit --output=/dev/null --site-color blue --wrap=true
    reached "site-color blue"
}

@test "without the setting, options of a plug-in are refused inside, and nothing is submitted" {
    fails "unrecognized option '--site-flag'" inside srun --site-flag true
    fails "unrecognized option '--site-color=red'" inside sbatch --site-color=red --wrap=true
    make_script job '#SBATCH --site-flag' true
    fails "unrecognized option '--site-flag'" inside sbatch job
    works is_queue_empty
    prints "" cat "$CLUSTER/log/spank"
}

@test "options that the user permits pass: srun, sbatch, directives and salloc" {
    permit '"--site-flag", "--site-color=", "--site-mode[=]"'
    works inside srun --site-flag true
    reached "site-flag -"
    works inside srun --site-color red true
    reached "site-color red"
    works inside srun --site-mode true
    reached "site-mode -"
    works inside srun --site-mode=fast true
    reached "site-mode fast"
    make_script job '#SBATCH --site-color=green' true
    works inside sbatch --wait --output=/dev/null job
    reached "site-color green"
    works inside sbatch --wait --output=/dev/null --site-color blue job
    reached "site-color blue"
    works inside salloc --site-flag srun true
    works grep -qxF "client site-flag -" "$CLUSTER/log/spank"
}

@test "a permitted option passes by its full name alone, and its value has no control characters" {
    permit '"--site-color="'
    fails "unrecognized option" inside srun --site-col=red true
    fails "slurm-value" inside srun --site-color=$'a\nb' true
    fails "unrecognized option" inside srun --site-flag true
}

@test "the setting opens no option that is refused for another reason" {
    permit '"--prolog=", "--bcast", "--uid=", "--site-flag"'
    fails "slurm-outside-code" inside srun --prolog=/bin/true true
    fails "slurm-outside-file" inside srun --bcast true
    fails "slurm-identity" inside sbatch --uid=0 --wrap=true
    works inside srun --site-flag true
}

@test "a project's file can't permit an option, and a malformed entry is refused" {
    printf '[slurm]\nspank_options = ["--site-flag"]\n' >.agent-sandbox.toml
    run inside srun --site-flag true
    ((status != 0)) || report "the project's file opened it"
    rm .agent-sandbox.toml
    prints "" cat "$CLUSTER/log/spank"
    permit '"site-flag", "--site flag"'
    refused 125 "'site-flag' is not the name of an option" inside srun --site-flag true
}

@test "why slurm and jobs of your own know the options that are permitted" {
    run "$SBX_PROGRAM" why slurm srun --site-flag
    ((status != 0)) || report "should not be known"
    permit '"--site-flag"'
    works "$SBX_PROGRAM" why slurm srun --site-flag
    works inside agent-sandbox why slurm srun --site-flag
    works "$SBX_PROGRAM" srun --site-flag true
    reached "site-flag -"
}
