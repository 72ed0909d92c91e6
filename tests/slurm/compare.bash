# SPDX-License-Identifier: MIT
# To hold what a command does inside against what the real one does outside: the same words, the same exit code, the same files.
# Two runs differ in their numbers and times, and by chance salloc hears of its own end and srun of its step's; `plain` takes that out,
# and the name that only several nodes on one machine give to slurmstepd.

load helper

plain() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}/TIME/g; s/[0-9]+/N/g; s/^slurmstepd-node./slurmstepd/; /^salloc: Job allocation .* has been revoked/d
    /^slurmstepd: error: \*\*\* STEP .* CANCELLED/d; /^Killed$/d'; }

# inside COMMAND...: in a jail. As the jail's own command, sbatch and srun would be the user's (the whole session as a job).
inside() { in_jail env -- "$@"; }

# as_outside COMMAND...: both streams and the exit code, each held against the real command's. In which order srun and its tasks
# write their complaints is chance.
as_outside() {
    local outside_output outside_errors outside_status
    run --separate-stderr outside "$@"
    outside_output=$output outside_errors=$stderr outside_status=$status
    run --separate-stderr inside "$@"
    ((status == outside_status)) || { output+=$stderr; report "should end with $outside_status and '$outside_errors': $*"; }
    [[ $(plain <<<"$output") == "$(plain <<<"$outside_output")" ]] || report "should print '$outside_output': $*"
    [[ $(plain <<<"$stderr" | sort) == "$(plain <<<"$outside_errors" | sort)" ]] || { output=$stderr; report "should say '$outside_errors': $*"; }
}

# submit_inside OPTION...: by sbatch in a jail; the job's number goes to JOB.
submit_inside() {
    JOB=$(inside sbatch --parsable "$@") || return
    [[ $JOB =~ ^[0-9]+$ ]]
}

# submit_both OPTION...: the same job twice; the numbers go to OUTSIDE and INSIDE.
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
