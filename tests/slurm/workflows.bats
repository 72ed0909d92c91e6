# SPDX-License-Identifier: MIT
# What workflow engines and everyday scripts ask of Slurm: polls with --clusters and --json, mail, exported files and variables. The
# control is the same line outside.

load compare
setup() { start_slurm_test; }
teardown() {
    "$CLUSTER/bin/control" cancel-neighbour
    end_slurm_test
}

# One job of this project, one submitted without a jail, one of another user.
three_owners() {
    submit --hold --job-name=bare --wrap=true
    BARE=$JOB
    works "$CLUSTER/bin/control" submit-neighbour
    submit_inside --hold --job-name=mine --comment="my own" --wrap=true
    MINE=$JOB
}

# ---- --clusters ------------------------------------------------------------------------------------------------------

@test "--clusters all and the own cluster's name pass, and show this project's jobs alone" {
    three_owners
    works outside squeue --clusters=all --noheader --format=%j
    [[ $output == *bare*mine* || $output == *mine*bare* ]] && [[ $output == *of-the-neighbour* ]] || report "the control sees all"
    local line
    for line in "squeue --clusters all" "squeue -M testcluster" "squeue -Mall -j $BARE,$MINE" "squeue --cluster=all -O Name,Comment" "sacct -X --clusters all --name=mine,bare" \
        "scontrol -M testcluster show jobs" "sprio -Mall" "env SLURM_CLUSTERS=all squeue" "sacct -L"; do
        works inside $line
        [[ $output != *bare* && $output != *of-the-n* && $output != *agent-sandbox:1* ]] || report "shows another job: $line"
    done
    prints "CLUSTER: testcluster
JOBID|NAME
$MINE|mine" inside squeue -M all -o "%i|%j"
    prints "$MINE my own" inside squeue -h -M all -o "%i %k"
    # As snakemake polls.
    submit_inside --job-name=polled --output=/dev/null --wrap=true
    wait_for_job "$JOB"
    wait_for_accounting "$JOB"
    # A job that ended in this very second is not before "now" yet.
    wait_until is_polled outside
    is_polled inside || report "the poll of snakemake"
    fails "your job $BARE is not one of this project" inside scancel --clusters=all "$BARE" "$MINE"
    prints PENDING job_state "$BARE"
    prints CANCELLED job_state "$MINE"
}

is_polled() { [[ $("$1" sacct -X --parsable2 --clusters all --noheader --format=JobIdRaw,State --starttime now-2days --endtime now --name polled) == "$JOB|COMPLETED" ]]; }

@test "commands about the own cluster answer as outside" {
    local line
    for line in "sinfo -M all" "sinfo -M testcluster -h -o %N" "sshare -M testcluster -U" "squeue -M testcluster" "scontrol -M testcluster show partition other"; do same $line; done
    as_outside sbatch -M testcluster --hold --wrap=true
    as_outside sbatch -M testcluster --hold --parsable --wrap=true
    as_outside env SBATCH_CLUSTERS=testcluster sbatch --hold --wrap=true
    as_outside srun -M testcluster true
    fails "refused [slurm-other-cluster]: --clusters=elsewhere: other clusters do not know this jail (use testcluster, or all" inside squeue --clusters=elsewhere
}

# ---- --json ----------------------------------------------------------------------------------------------------------

# names_in SUBJECT KEY: the values of a member in the JSON on standard input, sorted.
names_in() { python3 -c 'import json, sys
print(*sorted(str(item[sys.argv[2]]) for item in json.load(sys.stdin)[sys.argv[1]]))' "$@"; }
# The record of one job, without what differs outside: the comment's tag and the paths that Slurm got.
record_of() { python3 -c 'import json, sys
record, = (job for job in json.load(sys.stdin)["jobs"] if job["job_id"] == int(sys.argv[1]))
for name in sys.argv[2:]: record.pop(name)
print(json.dumps(record, sort_keys=True))' "$@"; }

@test "squeue --json prints this project's jobs alone, as they are" {
    three_owners
    prints "bare mine of-the-neighbour" sh -c 'squeue --json | python3 -c "import json, sys; print(*sorted(job[\"name\"] for job in json.load(sys.stdin)[\"jobs\"]  if job[\"job_state\"] in (\"PENDING\", \"RUNNING\")))"'
    local line
    for line in "" "--me" "--user=$SBX_NEIGHBOUR" "--jobs=$BARE,$MINE" "--all --states=all" "--clusters=all"; do
        works inside squeue --json $line
        [[ $output != *'"bare"'* && $output != *of-the-n* && $output != *private* && $output != *agent-sandbox:1* && $output != *"$SBX_NEIGHBOUR"* ]] || report "shows another job: $line"
    done
    prints mine sh -c '"$0" --quiet -- squeue --json | python3 -c "import json, sys; print(*(job[\"name\"] for job in json.load(sys.stdin)[\"jobs\"] if job[\"job_state\"] == \"PENDING\"))"' "$SBX_PROGRAM"
    works inside squeue --json --jobs="$BARE"
    [[ $(names_in jobs name <<<"$output") == "" ]] || report "a job out of scope"
    works inside squeue --json
    local ours=(comment command standard_error standard_input standard_output current_working_directory last_sched_evaluation)
    same_text "$(squeue --json | record_of "$MINE" "${ours[@]}")" "$(record_of "$MINE" "${ours[@]}" <<<"$output")" "the rest of the record"
    same_text "my own $PROJECT $PROJECT/slurm-$MINE.out" "$(python3 -c 'import json, sys
job, = (job for job in json.load(sys.stdin)["jobs"] if job["job_state"] == "PENDING")
print(job["comment"], job["current_working_directory"], job["standard_output"])' <<<"$output")" "the paths"
    AGENT_SANDBOX_SLURM_SCOPE=none works inside squeue --json
    [[ $(names_in jobs name <<<"$output") == *bare*mine*of-the-neighbour* && $output != *agent-sandbox:1* ]] || report "scope none shows all"
}

@test "sinfo --json prints the nodes without names of users, and scontrol answers as its release does" {
    works inside sinfo --json
    prints "$(sinfo --json | names_in nodes name)" names_in nodes name <<<"$output"
    works "$CLUSTER/bin/control" drain-node node3
    works outside sinfo --json
    [[ $output == *'"reason_set_by_user": "root"'* && $output == *"a bad disk"* ]] || report "the control sees who drained it"
    local shown
    shown=$(inside sinfo --json)
    works "$CLUSTER/bin/control" resume-node node3
    output=$shown
    [[ $output == *"a bad disk"* && $output != *'"root"'* ]] || report "the reason without the name"
    fails "refused [slurm-other-users]" inside sinfo --yaml
    # scontrol has it from 22.11.
    if outside scontrol --json show job >/dev/null 2>&1; then
        three_owners
        works inside scontrol --json show jobs
        [[ $(names_in jobs name <<<"$output") == mine ]] || report "scontrol's jobs"
    else
        same scontrol --json show jobs
    fi
}

# ---- Variables of a job ----------------------------------------------------------------------------------------------

@test "--export-file is read inside the jail, and gives the job what it gives it outside" {
    printf 'A=one\0C=two\nlines\0junk\0D=\0SLURM_JOB_ID=1\0SLURM_MINE=x\0' >variables
    make_script show.sh 'env | grep -E "^(A|B|C|D|lines|SLURM_MINE)(=|$)" | sort' 'test "$SLURM_JOB_ID" != 1 && echo the right job'
    make_script directive.sh '#SBATCH --export-file=variables' 'env | grep -E "^[AC]=" | sort'
    export A=agent B=agent
    local choice
    for choice in "" --export=ALL --export=A=given --export=NONE; do
        works outside sbatch --wait --output=outside.out $choice --export-file=variables show.sh
        works inside sbatch --wait --output=inside.out $choice --export-file=variables show.sh
        same_text "$(cat outside.out)" "$(cat inside.out)" "the variables with $choice"
    done
    works inside sh -c 'exec 5<variables; sbatch --wait --output=inside.out --export-file=5 show.sh'
    grep -qx A=one inside.out
    works inside sbatch --wait --output=inside.out directive.sh
    prints "A=one
C=two" cat inside.out
}

@test "--export-file names no file that the jail does not show" {
    printf 'SECRET=outside\0' >~/variables
    works outside sbatch --wait --output=out --export-file="$HOME/variables" --wrap='echo "$SECRET"'
    prints outside cat out
    fails "Could not open user environment file $HOME/variables" inside sbatch --export-file="$HOME/variables" --wrap='echo "$SECRET"'
    fails "Could not open user environment file 77" inside sbatch --export-file=77 --wrap=true
    prints "" squeue --me --noheader
}

@test "TMPDIR, proxies and own SLURM_ names of a job script reach its steps" {
    mkdir scratch
    make_script job.sh 'export TMPDIR=$PWD/scratch http_proxy=http://squid.example:3128 SLURM_LAB_NAME=mine' \
        'srun --ntasks=1 sh -c "echo \$TMPDIR \$http_proxy \$SLURM_LAB_NAME \$SLURM_PROCID"' \
        'SLURM_PROCID=7 SLURM_STEP_ID=9 srun --ntasks=1 sh -c "echo \$SLURM_PROCID \$SLURM_STEP_ID"' \
        'unset TMPDIR http_proxy' 'srun --ntasks=1 sh -c "echo \${http_proxy:-none} \${SLURM_LAB_NAME}"'
    works outside sbatch --wait --output=outside.out job.sh
    works inside sbatch --wait --output=inside.out job.sh
    # On a busy cluster srun prints that it tries again to create a step.
    sed -i '/^srun: /d' outside.out inside.out
    prints "$PWD/scratch http://squid.example:3128 mine 0
0 1
none mine" cat outside.out
    same_text "$(cat outside.out)" "$(cat inside.out)" "the variables of the steps"
}

# ---- Where output goes, and why a job did not start ------------------------------------------------------------------

@test "sbatch names an output file that will be lost" {
    ln -s "$PROJECT" ~/link
    works outside sbatch --wait --output=/dev/shm/kept --wrap="echo kept"
    local told
    for told in "--output=/tmp/lost|files there belong to the job's jail and are removed with it" "--output=$HOME/lost-%j.out|files there belong to the job's jail and are removed with it" \
        "--error=/tmp/lost|files there belong" "--output=/etc/lost|the jail can't write there, so the job will not start"; do
        run --separate-stderr inside sbatch --hold ${told%|*} --wrap=true
        ((status == 0)) && [[ $output == "Submitted batch job "* && $stderr == *": ${told#*|}"*"; a file in $PROJECT stays" ]] || { output+=$stderr; report "$told"; }
    done
    for told in "" --output=here.out --output="$PROJECT/%x.out" --output=/dev/null --output="$HOME/link/out"; do
        run --separate-stderr inside sbatch --hold $told --wrap=true
        ((status == 0)) && [[ -z $stderr ]] || { output+=$stderr; report "nothing to tell: $told"; }
    done
}

@test "slurm-log shows inside why a job did not start, also a job of an earlier session, and none of another project" {
    submit_inside --output=missing/out --wrap=true
    wait_for_job "$JOB" FAILED
    works grep "Could not open $PROJECT/missing/out" ~/.local/state/agent-sandbox/slurm/output/"$JOB"
    works inside agent-sandbox slurm-log "$JOB"
    [[ $output == *'"event":"messages"'*'"job":"'"$JOB"'"'*"Could not open $PROJECT/missing/out: No such file or directory"* ]] || report "the reason"
    works inside sh -c 'sbatch --wait --output=absent/out --wrap=true; agent-sandbox slurm-log'
    [[ $output == *'"event":"submitted"'*"Could not open $PROJECT/absent/out"* && $output != *missing* ]] || report "the reasons of this session"
    mkdir ~/other
    cd ~/other
    fails "refused [slurm-not-in-scope]: job $JOB was not submitted from this project" inside agent-sandbox slurm-log "$JOB"
    fails "takes the number of one job" inside agent-sandbox slurm-log ../x
}

@test "srun --mpi=list prints the plug-ins" {
    same srun --mpi=list
    as_outside srun --mpi=list --ntasks=2 true
}

@test "more than 64 commands at once wait, and all of them are answered" {
    submit_inside --hold --job-name=waits --wrap=true
    prints "150 waits" inside sh -c 'for i in $(seq 150); do squeue --noheader --format=%j & done >out; wait; sort out | uniq -c | xargs'
    # Steps that last do not keep a query or scancel waiting.
    prints waits inside sh -c 'for i in $(seq 70); do sbatch --wait --quiet --hold --output=/dev/null --wrap=true & done
        until [ "$(squeue --noheader --name=wrap | wc -l)" -ge 64 ]; do sleep 0.1; done
        squeue --noheader --name=waits --format=%j
        while [ -n "$(jobs)" ]; do scancel --me --name=wrap; jobs >/dev/null; sleep 0.1; done'
}

# ---- The program's own verbs -----------------------------------------------------------------------------------------

@test "why slurm answers about --json of a command of Slurm" {
    works inside agent-sandbox why slurm squeue --json
    [[ $output == *"squeue --json"*"passes in another form"*"only records that this session may see are printed"* ]] || report "the option"
    works "$SBX_PROGRAM" why --json slurm squeue --json
    [[ $(python3 -c 'import json, sys; print(json.load(sys.stdin)["subject"])' <<<"$output") == "squeue --json" ]] || report "as JSON"
    run -1 inside agent-sandbox why slurm squeue --yaml
    [[ $output == *"refused [slurm-other-users]"* ]] || report "the refused option"
}

@test "slurm-script prints the script of a job, which is base64 to Slurm" {
    make_script job.sh '#SBATCH --hold' 'echo "of the agent"' "printf 'tab\there'"
    submit_inside job.sh one two
    works outside scontrol write batch_script "$JOB" -
    [[ $output != *"of the agent"* ]] || report "the control: Slurm has base64"
    printf '%s\n' "$output" >stored
    same_text "$(cat job.sh)" "$("$SBX_PROGRAM" slurm-script "$JOB")" "the script"
    same_text "$(cat job.sh)" "$("$SBX_PROGRAM" slurm-script ./stored)" "the script of a stored file"
    same_text "$(cat job.sh)" "$("$SBX_PROGRAM" slurm-script - <stored)" "the script from a plug-in"
    # On a terminal, control characters are not sent to it.
    printf '#!/bin/sh\necho \033]0;title\007\n' >sly.sh
    submit_inside --hold sly.sh
    works "$SBX_PROGRAM" slurm-script "$JOB"
    [[ $output == *$'\033'* ]] || report "unchanged in a pipe"
    run script --quiet --command "'$SBX_PROGRAM' slurm-script $JOB" /dev/null
    [[ $output == *'\x1b]0;title'* && $output != *$'\033]0;'* ]] || report "escaped on a terminal"
    submit --hold --wrap=true
    fails "is not a job of agent-sandbox" "$SBX_PROGRAM" slurm-script "$JOB"
    fails "Invalid job id" "$SBX_PROGRAM" slurm-script 99999
    fails "slurm-script takes" "$SBX_PROGRAM" slurm-script
}

# ---- Signals ---------------------------------------------------------------------------------------------------------

@test "a signal of scancel reaches a task and a script once" {
    cat >count.py <<'PYTHON'
import os, signal, sys, time

name = sys.argv[1]
signal.signal(signal.SIGUSR1, lambda *_: open(name, "a").write("usr1\n"))
signal.signal(signal.SIGUSR2, lambda *_: (open(name, "a").write("usr2\n"), os._exit(0)))
open(name + ".ready", "w").close()
while True:
    time.sleep(0.05)
PYTHON
    make_script job.sh 'srun --quiet python3 count.py "$1.step" &' 'exec python3 count.py "$1.script"'
    local side
    for side in outside inside; do
        JOB=$("$side" sbatch --parsable --output=/dev/null job.sh "$side")
        wait_until test -e "$side.step.ready"
        wait_until test -e "$side.script.ready"
        # Every process of the step, then the script alone. The next signal is the witness that the one before has arrived.
        works "$side" scancel --signal=USR1 "$JOB"
        wait_until grep -qs usr1 "$side.step"
        works "$side" scancel --signal=USR1 --batch "$JOB"
        wait_until grep -qs usr1 "$side.script"
        works "$side" scancel --signal=USR2 "$JOB"
        wait_until grep -qs usr2 "$side.step"
        works "$side" scancel --signal=USR2 --batch "$JOB"
        wait_until grep -qs usr2 "$side.script"
        wait_until is_job_over "$JOB"
    done
    prints $'usr1\nusr2' cat outside.step
    prints $'usr1\nusr2' cat outside.script
    prints $'usr1\nusr2' cat inside.step
    prints $'usr1\nusr2' cat inside.script
}
