# SPDX-License-Identifier: MIT
# Processes of a session, of a request and of a job die or stop while Slurm is in use: Slurm is refused and never open, the command
# gets an error, no process that the session started for itself keeps running, and a submitted job belongs to Slurm. faults.bats has
# the cluster's own faults and the helper's death.

load compare
load ../jail/process_faults

setup_file() { export BATS_TEST_TIMEOUT=1800; }
setup() {
    start_slurm_test
    JAIL=(--network isolated)
}
teardown() {
    end_slurm_test
    rm -rf "/tmp/agent-sandbox-u$(id -u)"
}

# worker: the chaperon's child that serves the request; client: the real command that it runs.
worker() { children_of "$(process chaperon)" | head -n 1; }
client() { children_of "$(worker)" | head -n 1; }
has_client() { [[ $(client) =~ ^[0-9]+$ ]]; }

# start_step: a session with a running step.
start_step() {
    start_session 'squeue >/dev/null; touch ready; srun --quiet sh -c "touch started; exec sleep 300"; echo "status $?"; timeout 20 squeue --noheader >/dev/null; echo "again $?"'
    soon test -e started
    soon has_client
    rm -f started
}

@test "a request's worker is killed: its step ends, the command reports it, and the next one is served" {
    remember_world
    start_step
    kill -KILL "$(worker)"
    expect_end "the worker" 0
    run cat "$BATS_TEST_TMPDIR/jail.out"
    [[ $output == *"Slurm helper"*$'\n'"status 127"$'\n'"again 0" ]] || report "the command should be told"
    soon is_queue_empty || report "the step goes on"
    expect_clean "the worker"
}

@test "the real command is killed: its step ends as outside, and the next one is served" {
    remember_world
    start_step
    kill -KILL "$(client)"
    expect_end "the real command" 0
    run cat "$BATS_TEST_TMPDIR/jail.out"
    [[ $output == *"status 137"$'\n'"again 0" ]] || report "as a shell tells it"
    soon is_queue_empty || report "the step goes on"
    expect_clean "the real command"
}

@test "the stub is killed: its step ends, and the next one is served" {
    remember_world
    start_step
    local stub
    stub=$(pgrep -u "$(id -u)" -o -f '^([^ ]*/)?srun --quiet' | head -n 1)
    [[ $stub =~ ^[0-9]+$ ]]
    # The stub inside, not the real command.
    [[ $stub != "$(client)" ]] || stub=$(pgrep -u "$(id -u)" -f '^([^ ]*/)?srun --quiet' | grep -vxF "$(client)" | head -n 1)
    kill -KILL "$stub"
    expect_end "the stub" 0
    run cat "$BATS_TEST_TMPDIR/jail.out"
    [[ $output == *"status 137"$'\n'"again 0" ]] || report "as a shell tells it"
    soon is_queue_empty || report "the step goes on"
    expect_clean "the stub"
}

@test "the chaperon is stopped: commands wait and nothing is submitted; after SIGCONT it serves; stop ends the session" {
    remember_world
    start_session 'squeue >/dev/null; touch ready; until [ -e go ]; do sleep 0.02; done; timeout 2 sbatch --hold --wrap=true; echo "status $?"; touch tried; until [ -e further ]; do sleep 0.02; done; timeout 30 squeue --noheader; echo "again $?"; until [ -e never ]; do sleep 0.02; done'
    need chaperon
    kill -STOP "$FOUND"
    soon is_stopped "$FOUND"
    let_go
    soon test -e tried
    grep -qx "status 124" "$BATS_TEST_TMPDIR/jail.out"
    [[ -z $(squeue --me --noheader) ]]
    kill -CONT "$FOUND"
    touch further
    soon grep -qx "again 0" "$BATS_TEST_TMPDIR/jail.out"
    kill -STOP "$FOUND"
    soon is_stopped "$FOUND"
    works sandbox stop --now "$(sandbox ps --ids)"
    expect_end "the chaperon, stopped" 143
    rm -f tried further
    expect_clean "the chaperon, stopped"
}

@test "all our processes are killed during a step: the step and all processes end" {
    local name processes=()
    RANDOM=$SBX_SEED
    remember_world
    start_step
    mapfile -t processes < <(for name in supervisor stage keeper chaperon; do echo "$RANDOM $(process "$name")"; done | sort -n | cut -d' ' -f2)
    processes+=("$(worker)")
    kill -KILL "${processes[@]}"
    soon is_dead "$SUPERVISOR"
    end_of_jail
    soon is_queue_empty || report "the step goes on"
    expect_clean_after_the_next "all"
}

# ---- On the node -------------------------------------------------------------------------------------------------------

# Of the running job: Slurm started the supervisor of its session. The supervisor's child that has children is the jail. The helpers
# have names of their own.
job_supervisor() { left_processes | awk '/slurm-entry/ { print $1; exit }'; }
job_jail() {
    local child
    for child in $(children_of "$(job_supervisor)"); do
        [[ $(comm_of "$child") == asb-* || -z $(children_of "$child") ]] || echo "$child"
    done
}

@test "each process of a job is killed in turn: the job fails, and no process of it is left" {
    local name victim
    make_script job.sh "setsid sleep $MARK &" 'touch started' 'exec sleep 300'
    remember_world
    for name in job_supervisor job_jail; do
        submit_inside --output=/dev/null job.sh
        soon test -e started
        rm -f started
        victim=$("$name")
        [[ $victim =~ ^[0-9]+$ ]] || { left_processes >&2; return 1; }
        kill -KILL "$victim"
        soon is_job_over "$JOB" || report "$name: the job goes on"
        [[ $(job_state "$JOB") != COMPLETED ]] || report "$name: the job should have failed"
        expect_clean "$name"
    done
}

@test "a job is cancelled: no process or file is left, or the next session removes the files if Slurm killed all processes at once" {
    local words
    make_script job.sh "setsid sleep $MARK &" 'touch started' 'exec sleep 300'
    remember_world
    for words in "" "--full --signal=KILL"; do
        submit_inside --output=/dev/null job.sh
        soon test -e started
        rm -f started
        # The shell must split these words.
        # shellcheck disable=SC2086
        works outside scancel $words "$JOB"
        soon is_job_over "$JOB" || report "'$words': the job goes on"
        if [[ -z $words ]]; then expect_clean "cancelled"; else expect_clean_after_the_next "killed"; fi
    done
}
