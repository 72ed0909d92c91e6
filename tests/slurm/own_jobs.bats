# SPDX-License-Identifier: MIT
# The user's own jobs: agent-sandbox sbatch … and agent-sandbox srun …, outside any jail. Options keep Slurm's meaning, and the command
# runs in the jail. The control is the same line without agent-sandbox.

load compare
setup() {
    start_slurm_test
    mkdir ~/.ssh
    echo "a private key" >~/.ssh/id_x
}
teardown() { end_slurm_test; }

# own OPTION...: submits with sbatch; JOB gets the job's number.
own() {
    JOB=$("$SBX_PROGRAM" --quiet "${JAIL[@]}" sbatch --parsable "$@") || return
    [[ $JOB =~ ^[0-9]+$ ]]
}
jailed() { "$SBX_PROGRAM" --quiet "${JAIL[@]}" "$@"; }

@test "a batch job is jailed, its output is where Slurm puts it" {
    make_script job.sh '#SBATCH --job-name=named --ntasks=2' 'cat ~/.ssh/id_x 2>/dev/null || echo hidden' 'echo "$SLURM_JOB_NAME $SLURM_NTASKS $(pwd) $*"'
    submit job.sh one "two three"
    wait_for_job "$JOB"
    prints "a private key
named 2 $PROJECT one two three" cat "slurm-$JOB.out"
    own job.sh one "two three"
    wait_for_job "$JOB"
    prints "hidden
named 2 $PROJECT one two three" cat "slurm-$JOB.out"
    own --output="$HOME/elsewhere" --job-name=given --ntasks 1 job.sh
    wait_for_job "$JOB"
    prints "hidden
given 1 $PROJECT " cat ~/elsewhere
}

@test "--wrap, a script from standard input, variables and --export" {
    own --output=out --wrap='cat ~/.ssh/id_x 2>/dev/null || echo hidden'
    wait_for_job "$JOB"
    prints hidden cat out
    own --output=out <<<$'#!/bin/sh\n#SBATCH --comment="of the script"\ncat ~/.ssh/id_x 2>/dev/null || echo hidden'
    prints "of the script" sh -c 'squeue --noheader --states=all --jobs="$1" --format=%k | sed "s/ agent-sandbox:1:.*//"' sh "$JOB"
    wait_for_job "$JOB"
    prints hidden cat out
    SBATCH_OUTPUT=by-variable SBATCH_JOB_NAME=variable own --wrap='cat ~/.ssh/id_x 2>/dev/null || echo $SLURM_JOB_NAME'
    wait_for_job "$JOB"
    prints variable cat by-variable
    own --export=NONE --output=out --wrap='cat ~/.ssh/id_x 2>/dev/null || echo hidden'
    wait_for_job "$JOB"
    prints hidden cat out
    own --array=1-2 --output=out.%a --wrap='cat ~/.ssh/id_x 2>/dev/null || echo $SLURM_ARRAY_TASK_ID'
    wait_for_job "$JOB"
    prints $'1\n2' cat out.1 out.2
}

@test "own jobs belong to the project: its sessions see and cancel them, another project does not" {
    own --hold --comment="of mine" --job-name=own --wrap=true
    local own=$JOB
    # The control: without agent-sandbox it is not the project's.
    submit --hold --job-name=plain --wrap=true
    prints "own of mine" inside squeue --noheader --format="%j %k"
    make_script directive.sh '#SBATCH --comment="of the script" --hold --job-name=directive' true
    own directive.sh
    prints "directive|of the script" inside squeue --noheader --jobs="$JOB" --format="%j|%k"
    own --hold --comment="$(printf 'x%.0s' {1..1000})" --wrap=true
    mkdir ~/other
    prints "" sh -c 'cd ~/other && exec "$0" --quiet -- squeue --noheader' "$SBX_PROGRAM"
    AGENT_SANDBOX_SLURM_SCOPE=session prints "" inside squeue --noheader
    works inside scancel "$own"
    prints CANCELLED job_state "$own"
    # No step of the agent enters it: it was not submitted by a jail of the project.
    own --output=/dev/null --wrap='sleep 300'
    wait_for_state "$JOB" RUNNING
    fails "refused [slurm-not-in-scope]" inside srun --overlap --jobid="$JOB" true
    JAILED=$("$SBX_PROGRAM" --quiet srun --quiet --comment=step sh -c 'squeue --noheader --jobs="$SLURM_JOB_ID" --format=%k')
    same_text step "$JAILED" "the comment of a step's job"
}

@test "a step is jailed; streams, exit code and any option are Slurm's" {
    prints "a private key" srun --quiet cat ~/.ssh/id_x
    fails "No such file" jailed srun --quiet cat ~/.ssh/id_x
    prints "from here" jailed srun --quiet cat <<<"from here"
    run -5 jailed srun --quiet sh -c 'exit 5'
    prints $'0: x\n1: x' sh -c '"$@" | sort' sh "$SBX_PROGRAM" --quiet srun --quiet --label --ntasks=2 echo x
    make_script prolog "touch $HOME/prolog-ran"
    works jailed srun --quiet --task-prolog="$PROJECT/prolog" true
    [[ -e ~/prolog-ran ]] || report "the user's own prolog runs"
    prints hidden jailed srun --quiet --export=NONE sh -c 'cat ~/.ssh/id_x 2>/dev/null || echo hidden'
    prints hidden jailed srun --quiet --export=HOME sh -c 'cat ~/.ssh/id_x 2>/dev/null || echo hidden'
    works jailed srun --quiet --output="$HOME/elsewhere" echo said
    prints said cat ~/elsewhere
}

@test "the program's own options apply to the job" {
    mkdir ~/shown
    echo seen >~/shown/file
    JAIL=(--ro "$HOME/shown" --network isolated)
    own --output=out --wrap='cat ~/shown/file; grep -c : /proc/net/dev'
    wait_for_job "$JOB"
    prints $'seen\n1' cat out
    JAIL=(--network open)
    own --output=out --wrap='cat ~/shown/file 2>/dev/null; [ $(grep -c : /proc/net/dev) -gt 1 ] && echo open'
    wait_for_job "$JOB"
    prints open cat out
}

@test "errors are Slurm's messages, or one line of ours" {
    run outside sbatch no-such-file
    local plain=$output
    run jailed sbatch no-such-file
    ((status != 0)) || report "a script that is not there"
    fails "$(srun --partition=missing true 2>&1 | head -n 1)" jailed srun --partition=missing true
    fails "script" jailed sbatch <<<"no interpreter"
    [[ -z $(squeue --me --noheader) ]]
}

@test "search paths in the project are the job's, and not those of Slurm's commands outside" {
    local name
    mkdir tools
    make_script tools/tool 'echo found "$PYTHONPATH"'
    for name in sbatch srun; do make_script "tools/$name" "touch $HOME/ran-outside" 'exit 9'; done
    export PATH=$PROJECT/tools:$PATH PYTHONPATH=$PROJECT/library
    run -9 sbatch
    rm ~/ran-outside
    own --output=out --wrap=tool
    wait_for_job "$JOB"
    prints "found $PROJECT/library" cat out
    prints "found $PROJECT/library" jailed srun --quiet tool
    fails "tool" jailed srun --quiet --export=HOME tool
    prints "found " jailed srun --quiet --export=PATH tool
    [[ ! -e ~/ran-outside ]] || leak "a program of the project ran outside"
}
