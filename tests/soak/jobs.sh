# SPDX-License-Identifier: MIT
# jobs.sh SECONDS: the Slurm requests of the soak's jail. For each line on standard input it does one round, spread over SECONDS,
# and prints one line: the number of actions, and the names of those that failed.
seconds=$1

submit() { sbatch --parsable --output=/dev/null "$@" </dev/null; }

short() { [[ $(submit --wrap="sleep 1") =~ ^[0-9]+$ ]]; }
array() { [[ $(submit --array=1-3 --wrap="true") =~ ^[0-9]+$ ]]; }
ask() { squeue --noheader >/dev/null </dev/null; }
nodes() { sinfo --noheader </dev/null | grep -q debug; }
step() { [[ $(srun --ntasks=2 echo here </dev/null 2>/dev/null) == $'here\nhere' ]]; }
cancelled() {
    local job
    job=$(submit --wrap="sleep 600") && scontrol show job "$job" </dev/null | grep -q "JobId=$job" && scancel "$job" </dev/null
}
# The chaperon refuses these: a command for administrators, and an option that would leave the jail.
refused() { ! scontrol shutdown </dev/null >/dev/null 2>&1 && ! submit --uid=0 --wrap=true >/dev/null 2>&1; }
# Sends to the channel itself: nothing, junk, half a frame.
junk() {
    python3 -c 'import contextlib, socket
for junk in b"", b"\0\0", b"\xff" * 5000, b"GET / HTTP/1.0\r\n\r\n":
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/run/agent-sandbox/slurm")
    with contextlib.suppress(OSError):
        connection.send(junk)'
}
# Waits until no job of ours is pending or running.
empty() {
    local deadline=$((SECONDS + 120))
    until [[ -z $(squeue --noheader </dev/null 2>&1) ]]; do
        ((SECONDS < deadline)) || return 1
        sleep 2
    done
}

acts=(ask short cancelled nodes refused step ask array junk cancelled ask short empty)
while read -r _; do
    wrong=
    for act in "${acts[@]}"; do
        "$act" || wrong+="$act; "
        sleep "$(awk -v seconds="$seconds" -v acts="${#acts[@]}" 'BEGIN { print seconds / acts }')"
    done
    echo "${#acts[@]} $wrong"
done
