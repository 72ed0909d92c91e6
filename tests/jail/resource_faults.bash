# SPDX-License-Identifier: MIT
# Launches on a machine that lacks a resource, and the checks after each: it works in a complete jail, or fails with one line, and
# nothing is left behind or lost.

# A project with secrets that a complete jail masks (.env) or hides (private), and work that must stay unchanged.
start_resource_test() {
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    mkdir -p sub/deep private
    echo "a secret" | tee .env sub/deep/.env private/file >/dev/null
    echo work >work
    JAIL=(--network isolated --slurm off --backend native --hide "$PROJECT/private")
    # It starts no further process.
    PROBE=(sh -c 'for file in .env sub/deep/.env private/file; do { read -r line <$file && echo "$line"; } 2>/dev/null; done; echo ran')
    [[ $("${PROBE[@]}") == $'a secret\na secret\na secret\nran' ]]
    OUT=$BATS_TEST_TMPDIR/out ERRORS=$BATS_TEST_TMPDIR/errors
    mkfifo "$OUT.pipe" "$ERRORS.pipe"
    prints ran in_jail "${PROBE[@]}"
    LISTING=$(home_listing)
    MOUNTS=$(mounts_of_host)
    WORKED=0 FAILED=0
    RANDOM=$SBX_SEED
}

# Without the numbers that the kernel assigns in order.
# Without the directories that the first firejail on a machine mounts for itself, perhaps in another shard.
mounts_of_host() { cut -d' ' -f3- /proc/self/mountinfo | grep -v ' /run/firejail/' | sort; }

# launch AROUND... : runs the probe in a jail, started by AROUND; STATUS gets its exit status. The output goes through pipes, which
# a limit of file sizes does not affect.
launch() {
    local readers=()
    STATUS=0
    cat "$OUT.pipe" >"$OUT" 3>&- &
    readers+=($!)
    cat "$ERRORS.pipe" >"$ERRORS" 3>&- &
    readers+=($!)
    timeout 60 "$@" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "${PROBE[@]}" >"$OUT.pipe" 2>"$ERRORS.pipe" </dev/null 3>&- || STATUS=$?
    # A process that the launch left behind would keep the pipes open.
    wait "${readers[@]}"
}

complain() { # WHAT PROBLEM
    printf '%s: %s\nstatus %s\n--- output\n%s\n--- errors\n%s\n' "$1" "$2" "$STATUS" "$(cat "$OUT")" "$(cat "$ERRORS")" >&2
    return 1
}

# The last launch: the command ran in a complete jail, or did not run and one line gives the reason.
expect_whole_or_nothing() { # WHAT
    ! grep -q 'a secret' "$OUT" || complain "LEAK: $1" "a secret is out"
    case $STATUS in
        0)
            [[ $(cat "$OUT") == ran ]] || complain "$1" "the command did not run, and nobody says so"
            WORKED=$((WORKED + 1))
            ;;
        125)
            [[ ! -s $OUT ]] || complain "LEAK: $1" "the command ran in a jail that failed"
            [[ $(wc -l <"$ERRORS") == 1 && $(cat "$ERRORS") == "agent-sandbox: "* ]] || complain "$1" "one line should say why"
            FAILED=$((FAILED + 1))
            ;;
        *) complain "$1" "it ends in no way that it should" ;;
    esac
}

expect_both_ways() {
    ((WORKED > 0 && FAILED > 0)) || { echo "the limits prove nothing: $WORKED worked, $FAILED failed" >&2; return 1; }
}

# No process is left, nothing is mounted, the project is unchanged, and no half-written file is in the state directory.
expect_nothing_left() {
    [[ $(mounts_of_host) == "$MOUNTS" ]] || { echo "mounts of the host changed" >&2; return 1; }
    wait_until no_process_left || { echo "processes are left:" >&2; pgrep -u "$SBX_USER" -a '^agent-sa|^asb-' >&2; return 1; }
    # The next launch removes what a killed or failed launch could not remove.
    prints ran in_jail "${PROBE[@]}"
    [[ $(home_listing) == "$LISTING" ]] || { diff <(echo "$LISTING") <(home_listing) >&2; return 1; }
    [[ $(cat work .env sub/deep/.env private/file) == $'work\na secret\na secret\na secret' ]]
    [[ -z $(find "$HOME/.local" -name '*.new.*') ]] || { find "$HOME/.local" -name '*.new.*' >&2; return 1; }
}
no_process_left() { ! pgrep -u "$SBX_USER" '^agent-sa|^asb-' >/dev/null 2>&1; }

# How often the supervisor makes this call in a launch that works.
count_of() {
    launch strace -qq -o "$BATS_TEST_TMPDIR/trace" -e "trace=$1"
    [[ $STATUS == 0 ]] || complain "$1" "a launch that is watched should work"
    grep -c "^$1(" "$BATS_TEST_TMPDIR/trace"
}

# each_fails CALL ERROR MOST: one launch for each occurrence of CALL, in which that one fails; at most MOST launches, or a third of MOST.
each_fails() {
    local count step number
    count=$(count_of "$1")
    step=$((count / $3 + 1))
    [[ ${SBX_WHOLE:-} == 1 ]] || step=$((step * 3 < count ? step * 3 : count))
    for ((number = 1 + RANDOM % step; number <= count; number += step)); do
        launch strace -qq -o /dev/null -e "trace=$1" -e "inject=$1:error=$2:when=$number"
        expect_whole_or_nothing "$1, $number of $count, $2"
    done
}

forget_findings() { rm -rf "$HOME"/.local/state/agent-sandbox/{known-names,private-files}; }
