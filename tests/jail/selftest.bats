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
    traces >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
    # The last jail's keeper ends by itself, a moment after the jail.
    works wait_until nothing_runs
}

scratch_is_there() { compgen -G "$HOME/agent-sandbox-selftest.*" >/dev/null; }
nothing_runs() { ! pgrep -u "$SBX_USER" -f "$SBX_PROGRAM|selftest-part" >/dev/null; }

@test "selftest leaves nothing behind when it is interrupted" {
    local signal
    for signal in INT TERM; do
        traces >"$BATS_TEST_TMPDIR/before"
        "${ATTENTIVE[@]}" "$SBX_PROGRAM" selftest </dev/null >/dev/null 2>&1 3>&- &
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
