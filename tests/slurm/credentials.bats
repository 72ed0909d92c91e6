#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A job gets nothing of the session's credentials: no value, no placeholder, no certificate. Each submission says so. The control: plain
# Slurm passes a variable to the job, and keeps the text of a script where others can ask for it.

load compare

VALUE=tok_c4naryVALUEc4naryVALUEc4naryVALUEc4naryVAL

setup() {
    start_slurm_test
    mkdir -p ~/keys ~/.config/agent-sandbox
    (umask 077 && echo "$VALUE" >~/keys/tracker)
    printf '%s\n' '[credential.tracker]' 'hosts = ["tracker.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN TRACKER_KEY"' \
        'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' >~/.config/agent-sandbox/config.toml
    JAIL=(--credential tracker)
    make_script job.sh 'env' 'ls /run/agent-sandbox' 'cat ~/keys/tracker /run/agent-sandbox/trust/root.pem' 'exit 0'
}
teardown() { end_slurm_test; }

LINE="the job runs without the credential 'tracker' (TRACKER_TOKEN, TRACKER_KEY are not set): its value does not leave this session"

# has_nothing FILE: nothing of the session's credential is in it. The jail wrote its placeholder to the file of that name.
has_nothing() {
    [[ -s placeholder ]] || report "the session should have a placeholder"
    ! grep -qF -e "$VALUE" -e "$(<placeholder)" "$1" || report "should not have the placeholder"
    ! grep -q -e TRACKER_ -e "=.*agent-sandbox/trust" -e 'BEGIN CERTIFICATE' -e '^trust$' "$1" || { output=$(<"$1"); report "should have nothing of the session"; }
}

@test "control: a plain job gets the variable and the file, and Slurm keeps the text of its script" {
    export TRACKER_TOKEN=$VALUE
    works sbatch --hold --parsable --output=out job.sh
    local job=$output
    works scontrol write batch_script "$job" written
    grep -q keys/tracker written || report "Slurm should keep the script"
    scontrol release "$job"
    wait_for_job "$job"
    [[ $(grep -cF "$VALUE" out) == 2 ]] || report "should have the variable and the file"
}

@test "a job, an array task, a step and a step of an allocation get no credential, and the submission says so" {
    works in_jail bash -c '
        printf %s "$TRACKER_TOKEN" >placeholder
        [[ -n $SSL_CERT_FILE && -e $SSL_CERT_FILE ]] || exit 9
        export COPY=$TRACKER_TOKEN QUOTED="Bearer $TRACKER_TOKEN"
        sbatch --output=out job.sh 2>said.sbatch
        sbatch --output=out.%a --array=0-1 job.sh
        sbatch --output=some.out --export=TRACKER_TOKEN,SSL_CERT_FILE,PATH job.sh
        srun --quiet ./job.sh >step.out 2>said.srun
        salloc --quiet srun --quiet ./job.sh >allocation.out'
    wait_until is_queue_empty
    local file
    for file in out out.0 out.1 some.out step.out allocation.out; do
        grep -q ^SLURM_JOB_ID= "$file" || { output=$(<"$file"); report "should have run: $file"; }
        has_nothing "$file"
        ! grep -q -e ^COPY= -e ^QUOTED= "$file" || report "a copy should be left out: $file"
    done
    grep -qF "sbatch: $LINE" said.sbatch || { output=$(<said.sbatch); report "sbatch should say it"; }
    grep -qF "srun: $LINE" said.srun || { output=$(<said.srun); report "srun should say it"; }
}

@test "without a credential nothing is said, and the session's variables reach the job" {
    JAIL=()
    works in_jail bash -c 'export COPY=value; sbatch --output=out job.sh 2>said'
    wait_until is_queue_empty
    grep -qx COPY=value out
    ! grep -q credential said || report "should not speak of credentials"
}

@test "a script, an argument or an option with the placeholder is refused" {
    works in_jail bash -c '
        printf %s "$TRACKER_TOKEN" >placeholder
        printf "#!/bin/sh\necho %s\n" "$TRACKER_TOKEN" >literal.sh
        refused() {
            said=$("$@" 2>&1 </dev/null) && { echo "should be refused: $*"; exit 1; }
            [[ $said == *": refused [slurm-credential]: "*"credential '"'tracker'"'"* ]] || { echo "$said"; exit 1; }
        }
        refused sbatch literal.sh
        refused sbatch --wrap "echo $TRACKER_TOKEN"
        refused sbatch --export="ALL,COPY=$TRACKER_TOKEN" job.sh
        refused sbatch job.sh "$TRACKER_TOKEN"
        refused sbatch --comment="$TRACKER_TOKEN" --hold job.sh
        SBATCH_JOB_NAME=$TRACKER_TOKEN refused sbatch --hold job.sh
        refused srun echo "$TRACKER_TOKEN"
        refused salloc --comment="$TRACKER_TOKEN" true
        salloc --quiet printf %s "$TRACKER_TOKEN" >allocation
        [[ $(<allocation) == "$TRACKER_TOKEN" ]] || { echo "a command of an allocation runs in the session"; exit 1; }'
    [[ -z $(squeue --me --noheader) ]] || report "something was submitted"
}

@test "what Slurm keeps of a job has neither value nor placeholder" {
    works in_jail bash -c '
        printf %s "$TRACKER_TOKEN" >placeholder
        COPY=$TRACKER_TOKEN sbatch --hold --parsable --output=out job.sh 2>/dev/null'
    local job=$output
    works outside scontrol write batch_script "$job" written
    { outside scontrol show job "$job"; cat written; grep -v '^#' written | base64 -di; } >kept 2>/dev/null
    grep -q "SLURM_\|keys/tracker" kept || report "the control: the script should be in what Slurm keeps"
    [[ -s placeholder ]] || report "the session should have a placeholder"
    ! grep -qaF -e "$VALUE" -e "$(<placeholder)" kept || report "should not have the placeholder"
    ! grep -qa -e 'TRACKER_[A-Z]*=' -e COPY= -e 'SSL_CERT_FILE=' kept || report "should have no variable of the session"
    scancel "$job"
}
