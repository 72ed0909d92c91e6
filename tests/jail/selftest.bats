#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# All built-in escape attempts, in real jails on this machine; and they leave nothing behind.

load helper
setup() { start_test; }
teardown() { end_test; }

selftest() { "$SBX_PROGRAM" selftest "$@"; }

# Files that a self-test creates outside its scratch directory.
traces() {
    find /tmp /var/tmp /dev/shm -mindepth 1 -maxdepth 1 -user "$SBX_USER" | sort
    ipcs -m -s -q | grep "$SBX_USER" || true
    grep -c agent-sandbox-selftest /proc/keys || true
    home_listing
}


@test "every attempt is held" {
    selftest --json >"$BATS_TEST_TMPDIR/report" || { selftest | grep -E "ESCAPED|ERROR" >&2; return 1; }
    [[ $(member escaped <"$BATS_TEST_TMPDIR/report") == 0 ]]
    [[ $(member errors <"$BATS_TEST_TMPDIR/report") == 0 ]]
    (($(member held <"$BATS_TEST_TMPDIR/report") >= 100))
}

@test "agent-sandbox itself and bubblewrap build jails that hold every attempt, without an exception" {
    local backend
    for backend in native bwrap; do
        selftest --backend "$backend" --json >"$BATS_TEST_TMPDIR/report" || { selftest --backend "$backend" | grep -E "ESCAPED|ERROR" >&2; return 1; }
        [[ $(member escaped <"$BATS_TEST_TMPDIR/report") == 0 && $(member errors <"$BATS_TEST_TMPDIR/report") == 0 ]]
        (($(member held <"$BATS_TEST_TMPDIR/report") >= 250))
    done
}

@test "every attempt on a credential is held, each with a control, and the request that is permitted works" {
    local backend
    for backend in native bwrap; do
        selftest credentials --backend "$backend" --json >"$BATS_TEST_TMPDIR/report" ||
            { selftest credentials --backend "$backend" | grep -E "ESCAPED|ERROR" >&2; return 1; }
        (($(member held <"$BATS_TEST_TMPDIR/report") >= 40)) || { cat "$BATS_TEST_TMPDIR/report" >&2; return 1; }
        [[ $(member escaped <"$BATS_TEST_TMPDIR/report") == 0 && $(member errors <"$BATS_TEST_TMPDIR/report") == 0 ]]
        [[ $(member without_control <"$BATS_TEST_TMPDIR/report") == 0 && $(member not_tried <"$BATS_TEST_TMPDIR/report") == 0 ]]
    done
    # They cost the usual run nothing.
    works selftest files network
    [[ $output != *credentials/* ]]
    works selftest --list
    [[ $output == *credentials/elsewhere-query* ]] || report "should be listed"
}

# One attempt needs TLS. The others use the session's own name for the host.
@test "with firejail and Landlock, which decrypt nothing, every attempt without TLS is held, each with a control" {
    local backend
    rm -f "$HOME/.bash_history"
    for backend in "firejail --in-home" landlock; do
        # shellcheck disable=SC2086
        selftest credentials --backend $backend --json >"$BATS_TEST_TMPDIR/report" ||
            { selftest credentials --backend $backend | grep -E "ESCAPED|ERROR" >&2; return 1; }
        (($(member held <"$BATS_TEST_TMPDIR/report") >= 49)) || { cat "$BATS_TEST_TMPDIR/report" >&2; return 1; }
        [[ $(member escaped <"$BATS_TEST_TMPDIR/report") == 0 && $(member errors <"$BATS_TEST_TMPDIR/report") == 0 ]]
        [[ $(member without_control <"$BATS_TEST_TMPDIR/report") == 0 && $(member not_tried <"$BATS_TEST_TMPDIR/report") == 1 ]]
    done
}

# docs/security.md has the table of limits; an attempt that succeeds and is not in it fails the run.
@test "firejail and Landlock hold every attempt except the known limits" {
    local backend
    rm -f "$HOME/.bash_history"
    for backend in "firejail --in-home" landlock; do
        # shellcheck disable=SC2086
        selftest --backend $backend --json >"$BATS_TEST_TMPDIR/report" || { selftest --backend $backend | grep -E "ESCAPED|ERROR" >&2; return 1; }
        [[ $(member escaped <"$BATS_TEST_TMPDIR/report") == 0 && $(member errors <"$BATS_TEST_TMPDIR/report") == 0 ]]
        (($(member held <"$BATS_TEST_TMPDIR/report") >= 250 && $(member expected <"$BATS_TEST_TMPDIR/report") > 0))
    done
}

verdicts() { python3 -c 'import json, sys
for probe in json.load(sys.stdin)["probes"]: print(probe["probe"], probe["verdict"])'; }

@test "every attempt through exec in a running session has the verdict that it has as the session's own command, by every backend" {
    local backend through report=$BATS_TEST_TMPDIR/report
    rm -f "$HOME/.bash_history"
    for backend in native bwrap "firejail --in-home" landlock; do
        for through in "" --through-exec; do
            # shellcheck disable=SC2086
            selftest --backend $backend $through --json >"$report$through" ||
                { selftest --backend $backend $through | grep -E "ESCAPED|ERROR" >&2; return 1; }
        done
        works diff <(verdicts <"$report") <(verdicts <"$report--through-exec")
        (($(verdicts <"$report" | wc -l) >= 300)) || report "too few verdicts"
        # The control: it is another command. One with streams of its caller has no controlling terminal.
        grep -A 6 '"terminal/type-controlling"' "$report" | grep -q '"detail": "EPERM"' || report "$backend: not the session's own command"
        grep -A 6 '"terminal/type-controlling"' "$report--through-exec" | grep -q '"detail": "ENXIO"' || report "$backend: not an added command"
    done
}

@test "every attempt on a credential is held through exec" {
    selftest credentials --through-exec --json >"$BATS_TEST_TMPDIR/report" || { selftest credentials --through-exec | grep -E "ESCAPED|ERROR" >&2; return 1; }
    (($(member held <"$BATS_TEST_TMPDIR/report") >= 40)) || { cat "$BATS_TEST_TMPDIR/report" >&2; return 1; }
}

@test "selftest --in-home removes what it plants, and changes nothing else" {
    home_listing >"$BATS_TEST_TMPDIR/before"
    works selftest --in-home files/key-by-path
    home_listing >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    mkdir -m 0700 "$HOME/.ssh"
    echo mine >"$HOME/.ssh/id_ed25519"
    refused 125 "is there already" selftest --in-home files/key-by-path
    [[ $(<"$HOME/.ssh/id_ed25519") == mine ]]
    rm -r "$HOME/.ssh"
}

# firejail accepts no home directory but the account's.
@test "with firejail the self-test runs in the user's home directory, and leaves the user's files as they are" {
    local file
    mkdir -m 0700 -p "$HOME/.ssh" "$HOME/.config/agent-sandbox"
    for file in .ssh/id_ed25519 .netrc notes; do echo mine >"$HOME/$file"; done
    # Settings of the user open what the probes attack.
    printf '[home]\naccess = "write"\n' >"$HOME/.config/agent-sandbox/config.toml"
    home_listing >"$BATS_TEST_TMPDIR/before"
    run --separate-stderr selftest --backend firejail files persistence
    ((status == 0)) || { output=$(grep -E "ESCAPED|ERROR" <<<"$output")$stderr; report "did not hold"; }
    [[ $stderr == "agent-sandbox: firejail accepts no home directory but $HOME: "* && ${#stderr_lines[@]} == 1 ]] || report "no line: $stderr"
    [[ $output == *"not tried"*"files/key-by-path "*"~/.ssh/id_ed25519 is the user's own"* ]] || report "tried"
    [[ $output =~ "not tried  files/home-read-netrc " && $output =~ "held"\ +"files/home-read-aws " ]] || report "tried otherwise"
    home_listing >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    for file in .ssh/id_ed25519 .netrc notes; do prints mine cat "$HOME/$file"; done
    works wait_until nothing_runs
    # The control: --in-home is for an account without such files.
    refused 125 "is there already" selftest --backend firejail --in-home files
    rm -r "$HOME/.ssh" "$HOME/.netrc" "$HOME/notes" "$HOME/.config/agent-sandbox"
}

@test "most attempts are shown to work outside" {
    selftest --json >"$BATS_TEST_TMPDIR/report"
    (($(member without_control <"$BATS_TEST_TMPDIR/report") * 2 < $(member held <"$BATS_TEST_TMPDIR/report")))
}

@test "selftest takes a few seconds at most" {
    works timeout 30 "$SBX_PROGRAM" selftest
    [[ $output == *" held"* ]] || report "no summary"
}

@test "selftest leaves nothing behind" {
    traces >"$BATS_TEST_TMPDIR/before"
    works selftest
    works selftest --through-exec
    traces >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    # The last jail's keeper ends by itself, a moment after the jail.
    works wait_until nothing_runs
}

scratch_is_there() { compgen -G "$HOME/agent-sandbox-selftest.*" >/dev/null; }
nothing_runs() { ! pgrep -u "$SBX_USER" -f "$SBX_PROGRAM|selftest-part" >/dev/null; }

@test "selftest leaves nothing behind when it is interrupted" {
    local through
    for through in "" --through-exec; do interrupt_it $through; done
}
interrupt_it() {
    local signal
    for signal in INT TERM; do
        traces >"$BATS_TEST_TMPDIR/before"
        "${ATTENTIVE[@]}" "$SBX_PROGRAM" selftest "$@" </dev/null >/dev/null 2>&1 3>&- &
        CHILDREN+=($!)
        wait_until scratch_is_there
        kill "-$signal" $!
        STATUS=0
        wait $! || STATUS=$?
        ((STATUS > 128)) || { echo "ended with $STATUS" >&2; return 1; }
        works wait_until nothing_runs
        traces >"$BATS_TEST_TMPDIR/after"
        works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    done
}

@test "selftest does not use the user's own settings" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[home]\naccess = "write"\n[isolation]\nprivate_tmp = false\n' >"$HOME/.config/agent-sandbox/config.toml"
    works selftest files persistence
}

@test "a group or a single probe can be chosen" {
    works selftest network
    [[ $output != *files/* && $output == *network/udp* ]] || report "not the group"
    works selftest terminal/type
    [[ $output == *"1 held"* ]] || report "not the probe"
    refused 2 "did you mean files" selftest flies
}

@test "the list shows the attempts and runs none" {
    works selftest --list
    [[ $output == *"persistence/git-hook "*"git hook"* ]] || report "no list"
    works selftest --list --json
}

@test "settings that would change what is tested are refused" {
    refused 2 "--home" selftest --home read
    works selftest --backend bwrap terminal
}

@test "--project chooses the directory of selftest" {
    mkdir "$HOME/place"
    works selftest --project "$HOME/place" files/key-by-path
    [[ -z $(ls -A "$HOME/place") ]]
    refused 125 "" selftest --project "$HOME/absent" files
}
