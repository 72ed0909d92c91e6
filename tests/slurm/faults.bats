# SPDX-License-Identifier: MIT
# Faults of the cluster, of the helper outside, and of requests. The user sees an error of Slurm as Slurm prints it; an error of
# ours ends the command at once, with one line.

load compare
setup() { start_slurm_test; }
teardown() {
    "$CLUSTER/bin/control" start-munge
    "$CLUSTER/bin/control" start-controller
    end_slurm_test
}

@test "with --slurm off every command reports it, and no helper runs" {
    prints "" inside squeue --noheader
    JAIL=(--slurm off)
    local name
    for name in squeue sbatch srun scancel scontrol; do
        run -127 inside "$name"
        [[ $output == "$name: Slurm is closed in this sandbox (slurm.mode); "* && $output != *$'\n'* ]] || report "$name should say it in one line"
    done
    prints "goes on" inside sh -c 'squeue 2>/dev/null; echo "goes on"'
    ! pgrep -u "$(id -u)" -x asb-chaperon || report "a helper runs"
}

@test "an absent controller is reported as outside" {
    submit_inside --hold --wrap=true
    works "$CLUSTER/bin/control" stop-controller
    # Each takes a while to give up, so both run at once.
    squeue >plain.out 2>&1 3>&- &
    CHILDREN+=($!)
    run inside timeout 120 squeue
    local plain_status=0
    wait "${CHILDREN[0]}" || plain_status=$?
    ((status == plain_status)) || report "should end with $plain_status"
    [[ $(plain <<<"$output") == "$(plain <plain.out)" ]] || report "should say '$(cat plain.out)'"
    works "$CLUSTER/bin/control" start-controller
    prints "$JOB" inside squeue --noheader --format=%i
}

@test "an absent munge is reported as outside" {
    works "$CLUSTER/bin/control" stop-munge
    run squeue
    local plain=$output plain_status=$status
    run inside squeue
    ((status == plain_status)) || report "should end with $plain_status"
    [[ $(plain <<<"$output" | head -n 1) == "$(plain <<<"$plain" | head -n 1)" ]] || report "should say '$plain'"
    run inside sbatch --wrap=true
    ((status != 0)) && [[ $output == *munge* ]] || report "sbatch"
    works "$CLUSTER/bin/control" start-munge
    works inside squeue
}

@test "a job that disappears is unknown, as outside" {
    submit --hold --wrap=true
    works inside sh -c "scancel $((JOB + 5000)); true"
    as_outside scontrol show job "$((JOB + 5000))"
    as_outside squeue --noheader --jobs="$((JOB + 5000))"
    as_outside scancel "$((JOB + 5000))"
    prints "over" inside sh -c 'job=$(sbatch --parsable --wrap="sleep 60"); scancel $job; srun --quiet --jobid=$job true 2>/dev/null || echo over'
}

@test "a controller that restarts disturbs neither a step nor a waiting sbatch" {
    make_script slow.sh 'touch started' 'while test ! -e go; do sleep 0.05; done' 'exit 3'
    inside srun --quiet ./slow.sh 3>&- &
    CHILDREN+=($!)
    wait_until test -e started
    rm started
    inside sbatch --quiet --wait slow.sh 3>&- &
    CHILDREN+=($!)
    wait_until test -e started
    works "$CLUSTER/bin/control" restart-controller
    touch go
    local child status_of
    for child in "${CHILDREN[@]}"; do
        status_of=0
        wait "$child" || status_of=$?
        ((status_of == 3)) || { status=$status_of output="" report "should end with 3"; }
    done
}

@test "a script as large as Slurm accepts works, a larger one is refused" {
    { echo '#!/bin/sh'; echo 'tail -n 1 "$0" | cut -c1-12; exit'; head -c 2500000 /dev/zero | tr '\0' 'x' | fold -w 1000; echo; echo '# the last line'; } >large.sh
    submit --output=plain.out large.sh
    wait_for_job "$JOB"
    submit_inside --output=large.out large.sh
    wait_for_job "$JOB"
    prints "# the last l" cat large.out
    local size
    for size in 4194304 5242880; do
        { echo '#!/bin/sh'; head -c "$size" /dev/zero | tr '\0' '#'; } >huge.sh
        run outside sbatch huge.sh
        ((status != 0)) || report "the control: Slurm refuses it too"
        run inside sbatch huge.sh
        [[ $status != 0 && $output == *"slurm-too-large"* && $output != *$'\n'* ]] || report "$size bytes"
        run inside sh -c 'sbatch <huge.sh'
        [[ $status != 0 && $output == *"slurm-too-large"* ]] || report "$size bytes from standard input"
    done
    [[ -z $(squeue --me --noheader) ]]
}

@test "binary data and an empty file as a script are handled as outside" {
    random_bytes 100000 >junk
    { echo '#!/bin/sh'; random_bytes 100000; } >behind
    : >empty
    local script
    for script in junk empty behind; do
        run outside sbatch "$script"
        local plain=$output plain_status=$status
        run inside sbatch "$script"
        [[ $status == "$plain_status" && $output == "$plain" ]] || report "$script should end with $plain_status and '$plain'"
    done
}

@test "when the helper is killed, commands fail at once with a message and the jail goes on" {
    start_jail '
        squeue >/dev/null
        touch ready
        while test -e ready; do sleep 0.02; done
        timeout 20 squeue
        echo "status $?"
        timeout 20 sbatch --wrap=true
        echo "status $?"
        echo "goes on"'
    local helper
    helper=$(pgrep -u "$(id -u)" -x asb-chaperon)
    kill -KILL "$helper"
    wait_until is_no_process "$helper"
    rm ready
    end_of_jail
    ((STATUS == 0)) || { status=$STATUS output=$(cat "$BATS_TEST_TMPDIR/jail.out") report "the jail"; }
    run cat "$BATS_TEST_TMPDIR/jail.out"
    [[ $(grep -c "^status 127$" <<<"$output") == 2 && $(grep -c "Slurm helper" <<<"$output") == 2 && $output == *"goes on" ]] || report "each says so"
}
is_no_process() { [[ ! -e /proc/$1 || $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == Z ]]; }

@test "when the helper is killed during a command, the command and its step end" {
    start_jail 'touch ready; srun --quiet sleep 300; echo "status $?"'
    wait_until has_running_job
    local helper
    helper=$(pgrep -u "$(id -u)" -x asb-chaperon | head -n 1)
    kill -KILL "$helper"
    end_of_jail
    run cat "$BATS_TEST_TMPDIR/jail.out"
    [[ $output == *"status 127" ]] || report "the command"
    wait_until is_queue_empty || report "the step goes on"
}
has_running_job() { [[ $(squeue --me --noheader --format=%T) == RUNNING ]]; }

@test "when a session is killed its step ends and its batch job goes on" {
    submit_inside --wrap="sleep 60"
    local batch=$JOB
    start_jail 'touch ready; srun --quiet sleep 300'
    wait_until has_two_jobs
    kill -KILL "$SUPERVISOR"
    wait_until has_one_job
    prints "$batch" squeue --me --noheader --format=%i
}
has_two_jobs() { [[ $(squeue --me --noheader --states=RUNNING | wc -l) == 2 ]]; }
has_one_job() { [[ $(squeue --me --noheader | wc -l) == 1 ]]; }
