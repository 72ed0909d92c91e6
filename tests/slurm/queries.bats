# SPDX-License-Identifier: MIT
# The commands that show and change jobs behave inside as outside, for the jobs of this project. Here all jobs belong to it, so that
# both sides must print the same.

load compare
setup() { start_slurm_test; }
teardown() { end_slurm_test; }

# JOBS: three jobs of this project that do not start; the last is an array.
three_jobs() {
    JOBS=($(inside sh -c 'sbatch --parsable -H -J first --wrap=true; sbatch --parsable -H -J second -p other --time=5 --comment="a b" --wrap=true
        sbatch --parsable -H -J third -a 1-3 --wrap=true'))
    ((${#JOBS[@]} == 3))
}

running_job() {
    submit_inside -J running -o /dev/null --wrap='srun -Q sleep 60' "$@"
    wait_for_state "$JOB" RUNNING
    wait_until has_step "$JOB"
}
has_step() { [[ $(squeue --noheader --steps --job="$1" --format=%i) == *"$1.0"* ]]; }
tasks_left() { squeue --me --noheader --array --sort=i --format=%K | xargs; }

# ---- squeue ----------------------------------------------------------------------------------------------------------

@test "squeue selects and formats as squeue does" {
    three_jobs
    local ids=${JOBS[0]},${JOBS[2]} line
    same squeue --me
    while read -r line; do
        [[ -n $line ]]
        same squeue --me $line
    done <<END
-h
-ho %i|%j|%u|%T|%P|%l|%D|%C|%r|%a|%q
-O jobid,name:20,username,statecompact,partition,timelimit
-j $ids
-hj$ids -o%i
--jobs=${JOBS[2]}_2
--job ${JOBS[2]}_[1-2]
-t PD
-t R,CD -j $ids
--states=all -j $ids
-p other
-p debug,other
-n first,third
--name=second -h
--start
-l
-r
--array --noheader
-S -i
--sort=P,j
-u $SBX_USER
-A lab
-q normal
-w node0
--long --noheader
END
    same squeue -u "$SBX_USER" -h -o %i
    same squeue --user="$(id -u)" --name first
}

@test "messages about empty lists and unknown jobs are those of squeue" {
    local line
    while read -r line; do same squeue $line; done <<END
--me
--me --noheader
-j 999999
-j 999999,999998
-h -j 999999
-j none
-t nothing
-t COMPLETED -j 999999
-p nothing
-u nobody
--steps --me
--no-such-option
-o
--version
--usage
--help
END
}

@test "squeue shows steps" {
    running_job
    same squeue --me --steps
    same squeue -s -j "$JOB" -h -o %i
    same squeue --steps="$JOB.0" -h -o "%i %j"
    [[ $output == "$JOB.0"* ]] || report "the step"
}

@test "variables of squeue apply" {
    three_jobs
    local line
    for line in SQUEUE_FORMAT=%i:%j SQUEUE_FORMAT2=jobid,name SQUEUE_STATES=R SQUEUE_SORT=i SQUEUE_NAMES=first SQUEUE_PARTITION=other; do
        same env "$line" squeue --me
    done
}

# ---- scancel ---------------------------------------------------------------------------------------------------------

@test "scancel ends jobs by number, by name, by state, all of them" {
    three_jobs
    works inside scancel "${JOBS[2]}_2"
    prints "N/A N/A 1 3" tasks_left
    works inside scancel "${JOBS[2]}_[1,3]" "${JOBS[0]}"
    prints "N/A" tasks_left
    works inside scancel --name=second
    prints "" tasks_left
    three_jobs
    works inside scancel --me "${JOBS[0]}"
    prints "N/A 1 2 3" tasks_left
    works inside scancel --state=RUNNING --me
    prints "N/A 1 2 3" tasks_left
    works inside scancel -p other --me
    prints "1 2 3" tasks_left
    works inside scancel --state=PENDING --user="$SBX_USER"
    prints "" tasks_left
    three_jobs
    works inside scancel --me
    prints "" tasks_left
    three_jobs
    works inside scancel "${JOBS[@]}"
    prints "" tasks_left
}

@test "messages are those of scancel" {
    three_jobs
    local line
    while read -r line; do same scancel $line; done <<END
999999
999999_1
999999.0
-v 999999
-Q 999999
999998 999999
none
--signal=NOTHING 999999
--name=nothing
--name=nothing -v
--no-such-option
--version
--usage
--help
END
    same scancel
    outside scancel --me
    wait_until is_queue_empty
    # For jobs that have ended.
    same scancel "${JOBS[0]}"
    same scancel -v "${JOBS[0]}"
}

@test "scancel ends a step, and sends signals" {
    printf '%s\n' '#!/bin/bash' 'trap "echo batch >>signals" USR1' 'srun -Q ./task.sh & step=$!' \
        'while kill -0 $step; do sleep 0.1; done' 'echo "step ended" >>signals' 'while :; do sleep 0.1; done' >job.sh
    make_script task.sh 'trap "echo task >>signals" USR1' 'touch ready' 'while :; do sleep 0.1; done'
    submit_inside -o /dev/null job.sh
    wait_until test -e ready
    works inside scancel --signal=USR1 --batch "$JOB"
    works inside scancel --signal=USR1 "$JOB.0"
    # Slurm signals every process of a step, and the jail forwards the signal that it gets: a task may receive it twice, the script
    # only once.
    has_signals() { [[ $(sort signals | grep -c batch) == "$1" ]] && grep -q task signals; }
    wait_until has_signals 1 || { cat signals >&2; return 1; }
    rm signals
    works inside scancel --signal=usr1 "$JOB"
    wait_until has_signals 0 || { cat signals >&2; return 1; }
    works inside scancel "$JOB.0"
    wait_until grep -q "step ended" signals
    prints RUNNING job_state "$JOB"
    works inside scancel "$JOB"
    wait_for_job "$JOB" CANCELLED
}

@test "a signal to all processes of a job reaches the script, and the jail goes on" {
    printf '%s\n' '#!/bin/bash' 'trap "echo usr1 >>signals" USR1' 'trap "echo term >>signals" TERM' 'touch ready' \
        'until test -e end; do sleep 0.1; done' >job.sh
    local side expected
    for side in outside inside; do
        rm -f ready signals end
        works "$side" sbatch --parsable -o "$side.out" job.sh
        JOB=$output
        wait_until test -e ready
        works "$side" scancel --full --signal=USR1 "$JOB"
        wait_until grep -qs usr1 signals
        works "$side" scancel --full --signal=TERM "$JOB"
        wait_until grep -qs term signals
        touch end
        wait_for_job "$JOB"
        [[ $side == inside ]] || expected=$(cat signals)
    done
    # Once from Slurm, and perhaps once more through the jail.
    same_text "$expected" "$(uniq signals)" "the signals"
    fails "" grep agent-sandbox inside.out
}

@test "scancel --full with a signal reaches the script of a job inside, and names what it does not reach" {
    local side words expected state
    make_script child.sh 'trap "echo $1 >>signals" USR1' 'touch "ready.$1"' 'until test -e end; do sleep 0.1; done'
    printf '%s\n' '#!/bin/bash' 'trap "echo script >>signals" USR1' './child.sh child &' 'srun -Q ./child.sh step &' \
        'touch ready.script' 'until test -e end; do sleep 0.1; done' 'wait' >job.sh
    received() { [[ $(sort -u signals 2>/dev/null | xargs) == "$1" ]]; }
    for side in outside inside; do
        rm -f ready.* signals end
        works "$side" sbatch --parsable -o /dev/null job.sh
        JOB=$output
        wait_until test -e ready.script -a -e ready.child -a -e ready.step
        run --separate-stderr "$side" scancel -f --signal=USR1 "$JOB"
        ((status == 0)) || report "$side: scancel"
        if [[ $side == outside ]]; then
            same_text "" "$stderr" "Slurm's own message"
            wait_until received "child script step" || report "outside: $(cat signals)"
        else
            [[ $stderr == "scancel: --full: the signal reaches the script of a job that runs in a jail, not its children and steps"* ]] || report "no message: $stderr"
            wait_until received script || report "inside: $(cat signals)"
            # Each step has its number.
            works inside scancel --signal=USR1 "$JOB.0"
            wait_until received "script step" || report "the step: $(cat signals)"
        fi
        prints RUNNING job_state "$JOB"
        touch end
        wait_for_job "$JOB"
    done
}

@test "scancel --full ends a job inside as outside" {
    local side words expected state
    printf '%s\n' '#!/bin/bash' 'touch ready' 'sleep 300 & wait' >job.sh
    for words in "-f" "--full --signal=KILL"; do
        for side in outside inside; do
            rm -f ready
            works "$side" sbatch --parsable -o /dev/null job.sh
            JOB=$output
            wait_until test -e ready
            # The shell must split these words.
            # shellcheck disable=SC2086
            prints "" "$side" scancel $words "$JOB"
            wait_until is_job_over "$JOB"
            state=$(scontrol show job "$JOB" | grep -oE '(JobState|Reason|ExitCode)=[^ ]*' | xargs)
            [[ $side == inside ]] || expected=$state
        done
        same_text "$expected" "$state" "the end of the job after scancel $words"
    done
}

# ---- scontrol --------------------------------------------------------------------------------------------------------

@test "scontrol shows jobs as scontrol does" {
    three_jobs
    # Slurm stores other paths for the files and the command; the next test compares those with a job outside.
    shown() { untagged | grep -vE '^   (Command|WorkDir|StdErr|StdIn|StdOut|Comment)=|AllocNode' | sed 's/ *$//'; }
    local words
    for words in "show job ${JOBS[0]}" "show job=${JOBS[1]}" "show JobId ${JOBS[2]}" "-d show job ${JOBS[0]}" "show job ${JOBS[2]}_2" "sho jobs ${JOBS[0]}"; do
        works inside scontrol $words
        same_text "$(outside scontrol $words | shown)" "$(shown <<<"$output")" "scontrol $words"
    done
    works inside scontrol -o show job "${JOBS[0]}"
    ((${#lines[@]} == 1)) || report "one line"
    works inside scontrol --oneliner show job
    (($(grep -c "^JobId=" <<<"$output") >= 3)) || report "all jobs"
    [[ $output != *agent-sandbox:1:* ]] || leak "no tags"
}

@test "scontrol shows a job the same inside and outside" {
    echo data >input
    make_script job.sh true
    local options
    for options in "" "-o out-%j -e err-%x -i input" "-a 1-2" "--comment=text"; do
        submit_both -H $options job.sh one "two three"
        same_text "$(outside scontrol show job "$OUTSIDE" | plain)" "$(inside scontrol show job "$INSIDE" | plain)" "sbatch $options"
    done
    same_text "$(outside scontrol -o show job "$OUTSIDE" | plain)" "$(inside scontrol -o show job "$INSIDE" | plain)" "in one line"
    # For a step without a job around it.
    outside srun hostname >/dev/null
    works inside srun -J mine hostname
    works inside scontrol show job "$(squeue --me --states=all --noheader --name=mine --format=%i | tail -n 1)"
    [[ $output != *agent-sandbox* ]] || report "the command is the user's own"
}

@test "scontrol holds, releases, requeues and changes jobs, keys in any case" {
    submit_inside --wrap=true --begin=now+1hour -o /dev/null
    works inside scontrol hold "$JOB"
    prints JobHeldUser squeue --noheader --jobs="$JOB" --format=%r
    works inside scontrol release "$JOB"
    prints "None" sh -c "squeue --noheader --jobs=$JOB --format=%r | sed s/BeginTime/None/"
    works inside scontrol update "JobId=$JOB" TimeLimit=7 Comment="new comment"
    prints "7:00 new comment" inside squeue --noheader --jobs="$JOB" --format="%l %k"
    works inside scontrol update "jobid=$JOB" timelimit=8 NAME=renamed
    works inside scontrol update "JOBID=$JOB" Partition=other
    prints "8:00 renamed other" squeue --noheader --jobs="$JOB" --format="%l %j %P"
    prints "new comment" inside squeue --noheader --jobs="$JOB" --format=%k
    works inside scontrol update job "$JOB" StartTime=now
    wait_for_job "$JOB"
    same scontrol hold "$JOB"
    same scontrol update "JobId=$JOB" TimeLimit=9
    running_job
    works inside scontrol requeue "$JOB"
    wait_for_state "$JOB" PENDING
}

@test "messages are those of scontrol" {
    local line
    while read -r line; do same scontrol $line; done <<END
show job 999999
show job 999999_1
show job none
show nothing
show job 1 2
hold 999999
release 999999
requeue 999999
update JobId=999999 TimeLimit=5
update JobId=999999 Nothing=5
-o show job 999999
-Q show job 999999
--no-such-option
nothing
--version
--usage
END
}

@test "scontrol shows nodes, partitions and hosts" {
    local line
    while read -r line; do same scontrol $line; done <<END
show hostnames node[0-2],node3
show hostnames node0
show hostlist node0,node1,node2
show hostlistsorted node2,node1
show partition
show partition other
-o show partition debug
show nodes node9
show partition nothing
ping
END
    without_times() { grep -vE 'CPULoad|FreeMem|Time=|^$' | sed -E 's/CPULoad=\S+ ?//; s/FreeMem=\S+ ?//'; }
    same_text "$(outside scontrol show node node1 | without_times)" "$(inside scontrol show node node1 | without_times)" "a node"
    (($(inside scontrol -o show nodes | grep -c ^NodeName=) == 4))
    works inside scontrol show config
    [[ $output == *ClusterName*testcluster* ]] || report "the configuration"
    prints $'node0\nnode1' inside salloc -Q -N2 -w 'node[0-1]' scontrol show hostnames
}

# ---- Accounting and the cluster --------------------------------------------------------------------------------------

@test "sacct shows own jobs" {
    make_script accounted.sh 'srun -Q true; exit 7'
    submit_inside -o /dev/null --comment="my comment" accounted.sh
    wait_for_job "$JOB" FAILED
    # The database may receive the start of a job after its end.
    is_known() { [[ $(sacct -XnP -j "$JOB" -o JobName,State) == "accounted.sh|FAILED" ]]; }
    wait_until is_known
    same sacct -j "$JOB"
    same sacct -nPj "$JOB" -o JobID,JobName,State,ExitCode,Account,Partition,User
    same sacct -X --noheader --parsable2 --jobs="$JOB.batch" --format=JobID,State
    prints "$JOB|accounted.sh|FAILED|7:0|my comment" inside sacct -XnP -j "$JOB" -o JobID,JobName,State,ExitCode,Comment
    same sacct -j 999999
    same sacct -n -j 999999
    same sacct -j none
    same sacct --name=nothing
    same sacct --helpformat
    same sacct --format=nothing
    same sacct --no-such-option
    same sacct --version
    same sacct -Xn -o JobID -S now-1hour -E now -s FAILED --name=accounted.sh
    [[ $output == *"$JOB"* ]] || report "the job among all"
    works inside sacct
    [[ $output != *agent-sandbox:1:* ]] || leak "the tags are shown"
    [[ ${lines[0]} == *JobID* ]] || report "all jobs"
}

@test "sstat and sprio show own jobs" {
    running_job
    # For a moment it prints nothing.
    wait_until eval '[[ $(sstat -nP --jobs="$JOB.0" --format=JobID) == "$JOB.0" ]]'
    same sstat -nP -j "$JOB.0" -o JobID
    same sstat -nP -a -j "$JOB" -o JobID
    same sstat -j 999999
    same sstat
    same sstat --helpformat
    three_jobs
    outside scontrol release "${JOBS[0]}"
    submit_inside -N4 --exclusive --wrap=true
    same sprio -h -j "$JOB" -o "%i %u"
    same sprio -j 999999
    same sprio -w
    same sprio --no-such-option
}

@test "queries about the cluster answer as outside" {
    local line
    while read -r line; do same $line; done <<END
sinfo
sinfo -N -l -h -o %N|%c|%P
sinfo -s
sinfo -p other -t idle -h -o %D
sinfo -O nodelist,cpus,memory
sinfo -n node1
sinfo -R -h
sinfo -p nothing
sinfo --no-such-option
sinfo --version
sshare
sshare -U -n
sshare -m
sacctmgr -nP show cluster format=Cluster,ControlHost
sacctmgr show qos format=Name,Priority
sacctmgr -n list tres
sacctmgr --version
sreport -P cluster utilization
sreport -t hours cluster utilization start=2020-01-01 end=2020-01-02
sdiag --version
END
    works inside sdiag
    [[ $output == *"Jobs submitted"* && $output == *"Backfilling stats"* ]] || report "the controller's numbers"
}
