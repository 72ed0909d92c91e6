# SPDX-License-Identifier: MIT
# Runs the walker in jails of two backends, and compares its reports.

BACKENDS=(bwrap native)

start_differential_test() {
    [[ -x $SBX_WALKER ]] || { echo "there is no walker: run scripts/build walker" >&2; return 1; }
    start_test
    export AGENT_SANDBOX_PROJECT_HOLD=all # whatever tools this machine has
    mkdir -p "$HOME/.config/agent-sandbox"
    REPORTS=$BATS_TEST_TMPDIR
    WALK=(env)
    NESTED=()   # the program that runs the walker inside
    TOLD=()     # more arguments for the walker
    # Lines that the comparison leaves out: empty ones, and how many signals of the user are queued just now.
    PASSING='^$|^(first-)?status SigQ:'
    HOST=()
    local kind
    for kind in user mnt pid ipc uts cgroup net time; do
        HOST+=("$kind=$(stat -Lc %i "/proc/self/ns/$kind")")
    done
}

# walk BACKEND NAME: writes the walker's report from a jail with the options in JAIL. The output file is visible inside, so it is
# always the same file.
walk() {
    "${WALK[@]}" "$SBX_PROGRAM" --quiet --backend "$1" "${JAIL[@]}" -- "${NESTED[@]}" "$SBX_WALKER" "deep=$PWD" "${TOLD[@]}" "${HOST[@]}" \
        >"$REPORTS/output" 2>"$REPORTS/errors" 3>&- ||
        { echo "the walker failed with $1 ($2):" >&2; head -n 20 "$REPORTS/errors" "$REPORTS/output" >&2; return 1; }
    grep -avE "$PASSING" "$REPORTS/output" >"$REPORTS/$2"
}

no_difference() {
    "$SBX_WALKER" compare "$REPORTS/$1" "$REPORTS/$2" >"$REPORTS/differences" ||
        { echo "$1 and $2 differ:" >&2; head -n 60 "$REPORTS/differences" >&2; return 1; }
}

finds_difference() { # PATTERN FIRST SECOND
    if "$SBX_WALKER" compare "$REPORTS/$2" "$REPORTS/$3" >"$REPORTS/differences"; then
        echo "nothing was found, and '$1' should have been" >&2
        return 1
    fi
    grep -qE "$1" "$REPORTS/differences" || { echo "'$1' was not found, but:" >&2; head -n 20 "$REPORTS/differences" >&2; return 1; }
}

# When an account is created meanwhile, the host replaces files of /etc, and the kernel removes a mount on a replaced file.
accounts() { stat -c %i /etc/passwd /etc/group /etc/subuid /etc/subgid 2>/dev/null; }

# same_view NAME [OPTION...]: both backends give the same report in jails with these options.
same_view() {
    local name=$1 before attempt
    JAIL=("${@:2}")
    for attempt in {1..10}; do
        before=$(accounts)
        walk "${BACKENDS[0]}" "$name.first"
        walk "${BACKENDS[1]}" "$name.second"
        [[ $(accounts) != "$before" ]] || break
    done
    no_difference "$name.first" "$name.second" || { echo "with: $*" >&2; return 1; }
}

# Runs the command on a terminal of its own. Its output comes back with the terminal's line ends.
on_terminal() { script -qec "$(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r'; }

plant_home() {
    mkdir -p "$HOME/.ssh" "$HOME/.config/app" "$HOME/src/lib" "$HOME/.cache"
    echo secret | tee "$HOME/.ssh/id_ed25519" "$HOME/.netrc" "$HOME/.bash_history" >/dev/null
    echo text | tee "$HOME/.bashrc" "$HOME/.gitconfig" "$HOME/.config/app/rc" "$HOME/src/lib/file" >/dev/null
    ln -s src/lib "$HOME/lib"
}
