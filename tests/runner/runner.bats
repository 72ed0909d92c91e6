# SPDX-License-Identifier: MIT
# scripts/test itself: an unlucky test does not cost a run, and nothing that is broken passes because it is repeated.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    export SBX_SEED=$((RANDOM * 32768 + RANDOM)) SBX_LEDGER=$BATS_TEST_TMPDIR/ledger SBX_RESULTS=$BATS_TEST_TMPDIR/results
    unset SBX_WHOLE
}

teardown() { rm -rf "/var/tmp/agent-sandbox-luck.$SBX_SEED".*; }

# ends STATUS CLOSING-LINE COMMAND...
ends() {
    local wanted=$1 closing=$2
    shift 2
    run "$@"
    [[ $status == "$wanted" && ${lines[-1]} == "$closing" ]] || { printf 'status %s\n%s\n' "$status" "$output" >&2; return 1; }
}

says() { [[ $output == *"$1"* ]] || { printf 'should say: %s\n%s\n' "$1" "$output" >&2; return 1; }; }
keeps_silent_about() { [[ $output != *"$1"* ]] || { printf 'should not say: %s\n%s\n' "$1" "$output" >&2; return 1; }; }

# ---- Real parts ----------------------------------------------------------------------------------------------------------------------

@test "an unlucky test of the jail counts as passed, and is named" {
    ends 0 "2 passed, 0 failed, 0 skipped" scripts/test jail=tests/runner/unlucky.bats
    says "flaky: jail: tests/runner/unlucky.bats: unlucky: [a] \$name (with) \"signs\" | and ^more*"
    grep -q "tests/runner/unlucky.bats" "$SBX_LEDGER"
    grep -q "tests/runner/unlucky.bats" "$SBX_RESULTS/flaky.tsv"
}

@test "an unlucky test of a cluster counts as passed, and is named" {
    ends 0 "2 passed, 0 failed, 0 skipped" scripts/test slurm=tests/runner/unlucky.bats
    says "flaky: slurm: tests/runner/unlucky.bats: unlucky"
}

@test "an unlucky case of GoogleTest counts as passed, and is named" {
    ends 0 "2 passed, 0 failed, 0 skipped" scripts/test unit=unlucky
    says "flaky: unit: unlucky: Luck.FailsOnce"
}

@test "one failure among the repeats is a failure" {
    ends 1 "0 passed, 1 failed, 0 skipped" scripts/test jail=tests/runner/unlucky_twice.bats
    says "flaky: none"
}

@test "what fails always is red, with its first lines and the command that runs it alone" {
    ends 1 "0 passed, 1 failed, 0 skipped" scripts/test jail=tests/runner/failing.bats
    says "the first line of the failure"
    says "alone: scripts/test-jail --name 'fails always' tests/runner/failing.bats"
}

@test "a broken promise is never repeated" {
    ends 1 "0 passed, 1 failed, 0 skipped" scripts/test jail=tests/runner/leaking.bats
    says "nothing is repeated: jail: leaks once: LEAK:"
}

@test "a hang ends by its limit, and is red" {
    ends 1 "0 passed, 1 failed, 0 skipped" scripts/test jail=tests/runner/hanging.bats
}

# ---- What is not repeated ------------------------------------------------------------------------------------------------------------

# part NAME PASSED FAILED: the numbers of a part of which the lines of its TAP come from standard input.
part() {
    mkdir -p "$SBX_RESULTS"
    cat >"$SBX_RESULTS/$1.tap"
    echo "$2 $3 0" >"$SBX_RESULTS/$1"
}
judged() {
    run scripts/repeat-failed "$SBX_RESULTS" "$@"
    ((status == 0)) || { echo "$output" >&2; return 1; }
    output+=$'\n'$(<"$SBX_RESULTS/explained")
}
unlucky_line='not ok 1 unlucky: [a] $name (with) "signs" | and ^more*'

@test "missing results, and other failures than those of tests, stop every repeat" {
    part jail 1 1 <<<$'# tests/runner/unlucky.bats\n'"$unlucky_line"
    echo "2 results are missing" >"$SBX_RESULTS/jail.broken"
    judged jail
    says "nothing is repeated: jail: 2 results are missing"
    rm "$SBX_RESULTS/jail.broken"
    echo "0 1 0" >"$SBX_RESULTS/format"
    judged jail format
    says "nothing is repeated: format: it has failures that are not tests to repeat"
    keeps_silent_about "again:"
}

@test "reports of sanitizers and crashes stop every repeat" {
    local sign
    for sign in "==1==ERROR: AddressSanitizer: heap-use-after-free" "x.cc:1: runtime error: overflow" "WARNING: ThreadSanitizer: data race" \
        "Segmentation fault" "LEAK: was readable" "ESCAPED by mount"; do
        part jail 1 1 <<<$'# tests/runner/unlucky.bats\n'"$unlucky_line"$'\n'"# $sign"
        judged jail
        says "nothing is repeated: jail: unlucky"
        keeps_silent_about "again:"
    done
    # The control: the line of the test that bats shows is not its output.
    part jail 1 1 <<<$'# tests/runner/unlucky.bats\n'"$unlucky_line"$'\n'"#   \`selftest | grep ESCAPED >&2' failed"
    judged jail
    says "again:"
}

@test "more than four failed tests, or three of a file, are not repeated" {
    local number
    part jail 0 5 < <(for number in 1 2 3 4 5; do printf '# tests/runner/%s.bats\nnot ok %s a\n' $number $number; done)
    judged jail
    says "nothing is repeated: 5 tests failed; at most 4 are repeated"
    part jail 0 3 <<<$'# tests/runner/unlucky.bats\nnot ok 1 a\nnot ok 2 b\nnot ok 3 c'
    judged jail
    says "nothing is repeated: jail: 3 tests of tests/runner/unlucky.bats failed; at most 2 are repeated"
}

@test "a test that was flaky twice lately is mended, not repeated" {
    local row
    row=$(printf '2026-01-01T00:00:00Z\tabc\tjail\ttests/runner/unlucky.bats\t%s\tpassed,passed' "${unlucky_line#not ok 1 }")
    printf '%s\n' "$row" "$row" >"$SBX_LEDGER"
    part jail 1 1 <<<$'# tests/runner/unlucky.bats\n'"$unlucky_line"
    judged jail
    says "it was flaky twice lately; mend it"
}

@test "a test that the repeat does not find has failed" {
    part jail 0 1 <<<$'# tests/runner/unlucky.bats\nnot ok 1 a name that no test has'
    judged jail
    says "FAILED jail: tests/runner/unlucky.bats: a name that no test has"
    [[ $(<"$SBX_RESULTS/jail") == "0 1 0" ]]
}

# ---- What the gate runs --------------------------------------------------------------------------------------------------------------

@test "the gate adds parts by what has changed" {
    local tree=$BATS_TEST_TMPDIR/tree base
    mkdir -p "$tree/scripts" "$tree/src/network" "$tree/packaging"
    cp scripts/gate-parts scripts/gate.list scripts/build-cache.bash "$tree/scripts/"
    cd "$tree"
    git init -q -b main .
    git add -A
    git -c user.name=Tester -c user.email=tester@example.org commit -q -m base
    base=$(git rev-parse HEAD)
    touch src/network/a.cc packaging/b LICENSE
    git add -A
    git -c user.name=Tester -c user.email=tester@example.org commit -q -m change
    [[ $(SBX_BASE=$base scripts/gate-parts) == $'egress=whole\npackages\nthread' ]]
    [[ $(SBX_BASE=HEAD scripts/gate-parts) == "" ]]
    scripts/gate-parts --check
    touch unknown
    git add unknown
    run scripts/gate-parts --check
    [[ $status == 1 && $output == "scripts/gate.list: no row for unknown" ]]
}
