# SPDX-License-Identifier: MIT
# Compares a command inside with the real one outside: the same output, the same exit code, the same files. Two runs differ in their
# numbers and times, and salloc prints its own end, and srun that of its step, only sometimes. `plain` removes that, and the name
# that slurmstepd has only with several nodes on one machine.

load helper

plain() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}/TIME/g; s/[0-9]+/N/g; s/^slurmstepd-node./slurmstepd/; /^salloc: Job allocation .* has been revoked/d
    /^slurmstepd: error: \*\*\* STEP .* CANCELLED/d; /^Killed$/d'; }

# inside COMMAND...: runs it in a jail, through env: as the jail's own command, sbatch and srun would submit the whole session as a
# job.
inside() { in_jail env -- "$@"; }

# as_outside COMMAND...: compares both streams and the exit code with the real command's. The order in which srun and its tasks
# write errors varies.
as_outside() {
    local outside_output outside_errors outside_status
    run --separate-stderr outside "$@"
    outside_output=$output outside_errors=$stderr outside_status=$status
    run --separate-stderr inside "$@"
    ((status == outside_status)) || { output+=$stderr; report "should end with $outside_status and '$outside_errors': $*"; }
    [[ $(plain <<<"$output") == "$(plain <<<"$outside_output")" ]] || report "should print '$outside_output': $*"
    [[ $(plain <<<"$stderr" | sort) == "$(plain <<<"$outside_errors" | sort)" ]] || { output=$stderr; report "should say '$outside_errors': $*"; }
}

# submit_inside OPTION...: submits with sbatch in a jail; JOB gets the job's number.
submit_inside() {
    JOB=$(inside sbatch --parsable "$@") || return
    [[ $JOB =~ ^[0-9]+$ ]]
}

# submit_both OPTION...: submits the same job twice; OUTSIDE and INSIDE get the numbers.
submit_both() {
    submit "$@" || return
    OUTSIDE=$JOB
    submit_inside "$@" || return
    INSIDE=$JOB
}

# wait_for_both [STATE]
wait_for_both() {
    wait_for_job "$OUTSIDE" "$@" && wait_for_job "$INSIDE" "$@"
}

# same_text OUTSIDE INSIDE WHAT
same_text() {
    [[ $1 == "$2" ]] || { diff <(printf '%s\n' "$1") <(printf '%s\n' "$2") >&2; status=0 output=$2; report "$3 should be '$1'"; }
}

# same COMMAND...: for the same jobs, so that numbers must be equal too; the times in a report may differ. Tags are visible only
# outside.
same() {
    local outside_output outside_errors outside_status
    run --separate-stderr outside "$@"
    outside_output=$output outside_errors=$stderr outside_status=$status
    run --separate-stderr inside "$@"
    ((status == outside_status)) || { output+=$stderr; report "should end with $outside_status and '$outside_errors': $*"; }
    same_text "$(untagged <<<"$outside_output" | timeless)" "$(timeless <<<"$output")" "$*"
    same_text "$outside_errors" "$stderr" "the complaints of $*"
}
# A second may pass between the two runs: the time of a report, and the run time of a job.
timeless() { sed -E 's/[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?/TIME/g; s/ +TIME/ TIME/g'; }
untagged() { sed -E 's/ ?agent-sandbox:1:[0-9a-f]{32}:[0-9a-f]{32}//'; }
