# SPDX-License-Identifier: MIT
# Which jobs a jail can see and change: those of the project, unless slurm.scope has another value. The control is the same user
# outside, who sees them all.

load compare
setup() {
    start_slurm_test
    OTHER=$HOME/other
    mkdir "$OTHER"
}
teardown() {
    "$CLUSTER/bin/control" cancel-neighbour
    end_slurm_test
}

# Held jobs: MINE of this project and session, THEIRS of another project, BARE submitted without a jail.
make_jobs() {
    submit --hold --job-name=bare --wrap=true
    BARE=$JOB
    submit_inside --hold --job-name=mine --wrap=true
    MINE=$JOB
    THEIRS=$(cd "$OTHER" && inside sbatch --parsable --hold --job-name=theirs --wrap=true)
}
seen() { inside sh -c 'squeue --noheader --format=%j | sort | xargs'; }

@test "a project sees its own jobs, another project its own, the user all" {
    make_jobs
    prints "bare mine theirs" sh -c 'squeue --me --noheader --format=%j | sort | xargs'
    prints mine seen
    prints theirs sh -c 'cd "$1" && exec "$2" --quiet -- env squeue --noheader --format=%j' sh "$OTHER" "$SBX_PROGRAM"
    # Another session of the same project sees them too.
    prints "$MINE" inside squeue --noheader --format=%i --jobs="$BARE,$MINE,$THEIRS"
}

@test "jobs out of scope can't be shown, changed or ended" {
    make_jobs
    local job command
    for job in "$BARE" "$THEIRS"; do
        run outside scontrol show job 99999
        local unknown=${output//99999/$job}
        prints_and_fails "$unknown" inside scontrol show job "$job"
        for command in "scontrol hold" "scontrol release" "scontrol requeue" "scontrol update TimeLimit=1 JobId=$job #" "scancel" "scontrol notify" \
            "scancel --signal=USR1" "scontrol top" "scontrol suspend" "scontrol update Comment=x JobId=$job #"; do
            inside sh -c "$command $job" || true
        done
        prints "PENDING|JobHeldUser|(null)" sh -c "squeue --noheader --jobs=$job --format='%T|%r|%k' | sed 's/ *agent-sandbox:.*//; s/|\$/|(null)/'"
    done
    fails "refused [slurm-not-in-scope]: your job $BARE, $THEIRS is not one of this project, so it was not touched (slurm.scope)" inside scancel "$BARE" "$THEIRS"
    works "$CLUSTER/bin/control" submit-neighbour
    local number
    number=$(squeue --noheader --user="$SBX_NEIGHBOUR" --format=%i)
    run inside scancel "$number"
    local of_neighbour=$output
    run inside scancel 99999
    same_text "${output//99999/$number}" "$of_neighbour" "a job of another user looks like one that does not exist"
    run inside scancel --me
    run inside scancel --user="$SBX_USER"
    run inside scancel --name=bare
    run inside scancel --state=PENDING --me
    run inside scancel "${BARE}_1" "$BARE.0" "$BARE+0" "$THEIRS.batch"
    prints "bare theirs" sh -c 'squeue --me --noheader --format=%j | sort | xargs'
    # The control.
    works scancel --me --name=bare
    prints theirs squeue --me --noheader --format=%j
}
prints_and_fails() {
    local text=$1
    shift
    run "$@"
    ((status != 0)) || leak "should fail: $*"
    [[ $output == "$text" ]] || report "should say '$text': $*"
}

@test "no option of squeue, sacct, sprio and sstat widens the view" {
    make_jobs
    local line
    for line in "squeue --all" "squeue --user=$SBX_USER" "squeue -j $BARE,$THEIRS" "squeue --name=bare,theirs" "squeue --states=all" "squeue --steps" "squeue -O JobID,Name,Comment:200" \
        "squeue -o %i%j%k%Z%o" "sprio" "sprio -l" "sprio -j $BARE,$THEIRS" "scontrol show jobs" "scontrol -o show job" "sacct --name=bare,theirs" "sacct -j $BARE,$THEIRS --format=JobName%30" \
        "sacct -D -l" "sacct --json" "sstat -a -j $BARE,$THEIRS"; do
        run inside $line
        [[ ! $output =~ (^|[^a-z])(bare|theirs)($|[^a-z]) && ! $output =~ (^|[^0-9])($BARE|$THEIRS)($|[^0-9]) || $output == *"error"* || $output == *refused* ]] || leak "$line"
        [[ $output != *agent-sandbox:1:* ]] || leak "the tag is shown: $line"
    done
    prints "bare theirs" sh -c 'squeue --noheader --name=bare,theirs --format=%j | sort | xargs'
    wait_until is_in_accounting "$BARE"
}
is_in_accounting() { [[ -n $(sacct --noheader --jobs="$1" --format=JobID) ]]; }

@test "the neighbour's jobs, name and shares are not shown" {
    works "$CLUSTER/bin/control" submit-neighbour
    works squeue --noheader --format="%u %j %k"
    [[ $output == *"$SBX_NEIGHBOUR of-the-neighbour private"* ]] || report "the control sees it"
    local number line
    number=$(squeue --noheader --user="$SBX_NEIGHBOUR" --format=%i)
    wait_for_state "$number" RUNNING
    for line in "squeue" "squeue --all --states=all" "squeue --user=$SBX_NEIGHBOUR" "squeue --jobs=$number" "squeue --steps" "sprio" "sprio --user=$SBX_NEIGHBOUR" "scontrol show jobs" \
        "scontrol show job $number" "scontrol show steps" "scontrol show step $number.batch" "sacct --allusers" "sacct --user=$SBX_NEIGHBOUR" "sacct -j $number --format=User,JobName" \
        "sshare --all" "sshare --users=$SBX_NEIGHBOUR" "sdiag" "sreport user top" "sreport cluster accountutilizationbyuser" "sacctmgr show users" "sacctmgr show associations" \
        "scontrol show nodes" "scontrol show assoc_mgr" "sinfo --list-reasons" "sstat -j $number" "scontrol completing" "scontrol listpids" "squeue --json" "scontrol show config"; do
        run inside $line
        [[ $output != *"$SBX_NEIGHBOUR"* || $line == *"$SBX_NEIGHBOUR"* ]] || leak "names the neighbour: $line"
        [[ $output != *of-the-n* && $output != *private* ]] || leak "shows the neighbour's job: $line"
    done
    AGENT_SANDBOX_SLURM_SCOPE=user run inside squeue --noheader --format=%u
    [[ -z $output ]] || leak "scope user shows the user's alone"
    run inside scancel "$number"
    prints RUNNING job_state "$number"
}

@test "scope session: only what this session submitted" {
    make_jobs
    export AGENT_SANDBOX_SLURM_SCOPE=session
    prints "" seen
    prints "now" inside sh -c 'sbatch --quiet --hold --job-name=now --wrap=true; squeue --noheader --format=%j | sort | xargs'
    prints "" seen
}

@test "scope user: all jobs of the user; scope none: jobs of all users" {
    make_jobs
    works "$CLUSTER/bin/control" submit-neighbour
    AGENT_SANDBOX_SLURM_SCOPE=user prints "bare mine theirs" seen
    AGENT_SANDBOX_SLURM_SCOPE=none prints "bare mine of-the-neighbour theirs" seen
    # With scope user, the agent can also cancel a job that no jail submitted.
    AGENT_SANDBOX_SLURM_SCOPE=user works inside scancel "$BARE"
    prints "CANCELLED" job_state "$BARE"
}

@test "neither the jail's environment nor the project's file widens the scope" {
    make_jobs
    prints mine inside sh -c 'AGENT_SANDBOX_SLURM_SCOPE=none squeue --noheader --format=%j'
    make_script show.sh 'squeue --noheader --format=%j --states=PENDING'
    submit_inside --output=out --export=ALL,AGENT_SANDBOX_SLURM_SCOPE=none show.sh
    wait_for_job "$JOB"
    prints mine cat out
    printf '[slurm]\nscope = "none"\n' >.agent-sandbox.toml
    run seen
    [[ $output != *bare* && $output != *theirs* ]] || leak "the project's file"
}

@test "a comment forges no tag, neither at submission nor later" {
    submit_inside --hold --job-name=known --wrap=true
    local tag forged
    tag=$(squeue --noheader --jobs="$JOB" --format=%k)
    [[ $tag == agent-sandbox:1:* ]] || report "the tag"
    forged=$(cd "$OTHER" && inside sbatch --parsable --hold --job-name=forged --comment="$tag" --wrap=true)
    prints known seen
    (cd "$OTHER" && inside scontrol update "JobId=$forged" "Comment=$tag")
    (cd "$OTHER" && inside scontrol update "JobId=$forged" "Comment=$tag"$'\n'"$tag" || true)
    prints known seen
    # A second line that looks like a row of squeue.
    (cd "$OTHER" && inside sbatch --quiet --hold --job-name=lines --comment="x"$'\n'"1|1|1|PENDING|$tag" --wrap=true || true)
    prints known seen
    # The control: written by the user outside, the tag is accepted.
    works scontrol update "JobId=$forged" "Comment=$tag"
    prints "forged known" seen
}

@test "a step enters only a job of its own project, also one that an earlier session submitted" {
    submit --wrap="sleep 60"
    wait_for_state "$JOB" RUNNING
    local bare=$JOB
    local theirs
    theirs=$(cd "$OTHER" && inside sbatch --parsable --wrap="sleep 60")
    wait_for_state "$theirs" RUNNING
    works srun --quiet --overlap --jobid="$bare" true
    local job
    for job in "$bare" "$theirs"; do
        fails "refused [slurm-not-in-scope]" inside srun --quiet --overlap --jobid="$job" true
        fails "refused [slurm-not-in-scope]" inside sh -c "SLURM_JOB_ID=$job srun --quiet --overlap true"
        fails "refused [slurm-not-in-scope]" inside sh -c "SLURM_JOBID=$job srun --quiet --overlap true"
    done
    # A tag that the user copied makes no job of the project's jail: this one has no record.
    submit_inside --output=/dev/null --wrap="echo first >/tmp/file; sleep 300"
    wait_for_state "$JOB" RUNNING
    works scontrol update "JobId=$bare" "Comment=$(squeue --noheader --jobs="$JOB" --format=%k)"
    prints "$bare" inside squeue --noheader --jobs="$bare" --format=%i
    fails "refused [slurm-not-in-scope]: job $bare was not submitted from this project" inside srun --quiet --overlap --jobid="$bare" true
    # The earlier session has ended; its job has not. The step is in the job, in a jail.
    wait_until entered_sees_file
    prints "$JOB none" inside srun --quiet --overlap --jobid="$JOB" sh -c 'echo "$SLURM_JOB_ID $(cat ~/.ssh/id_x 2>/dev/null || echo none)"'
    AGENT_SANDBOX_SLURM_SCOPE=session fails "refused [slurm-not-in-scope]: job $JOB was not submitted from this session" inside srun --quiet --overlap --jobid="$JOB" true
    fails "refused [slurm-not-in-scope]" inside srun --quiet --overlap --jobid="$bare+0" true
    fails "refused [slurm-not-in-scope]" inside srun --quiet --overlap --jobid="0$bare,$theirs" true
    prints inside inside sh -c 'salloc --quiet srun --quiet --overlap echo inside'
}
entered_sees_file() { [[ $(inside srun --quiet --overlap --jobid="$JOB" cat /tmp/file) == first ]]; }
