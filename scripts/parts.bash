# SPDX-License-Identifier: MIT
# What each part of the test suite does. Sourced by scripts/test.
#
# A part that speaks TAP leaves its lines in $results/PART.tap, one of GoogleTest its reports in $results/PART.xml/; scripts/repeat-failed
# reads both. Each leaves its numbers in $results/PART: passed, failed, skipped.

results=${SBX_RESULTS:-$PWD/build/results}

count() { echo "$2 $3 $4" >"$results/$1"; }

# One check as a part of its own: it passes or it fails.
check() {
    local part=$1
    shift
    if "$@"; then count "$part" 1 0 0; else count "$part" 0 1 0; fi
}

# For those that speak TAP. A plan that was not fulfilled counts as a failure, and so does a status that no result explains.
run_tap() { # PART COMMAND...
    local part=$1 status
    shift
    "$@" | tee "$results/$part.tap"
    status=${PIPESTATUS[0]}
    awk -v status="$status" -v broken="$results/$part.broken" '
        /^1\.\.[0-9]+/ { planned += substr($1, 4) }
        /^ok .*# skip/ { skipped++; next }
        /^ok / { passed++ }
        /^not ok / { failed++ }
        END {
            missing = planned - passed - failed - skipped
            if (missing > 0) { failed += missing; print missing " results are missing" >broken }
            if (status && !failed) { failed = 1; print "it ended with status " status >broken }
            print passed + 0, failed + 0, skipped + 0
        }' "$results/$part.tap" >"$results/$part"
}

# GoogleTest counts in its own reports; ctest runs the programs and shows the output of those that fail.
under=()
run_ctest() { # PART FOLDER OPTION...
    local part=$1 folder=$2 status
    shift 2
    rm -rf "$results/$part.xml"
    GTEST_BRIEF=1 GTEST_OUTPUT="xml:$results/$part.xml/" "${under[@]}" \
        ctest --test-dir "$folder" --output-on-failure -j2 --no-tests=error "$@" | tee "$results/$part.out"
    status=${PIPESTATUS[0]}
    cat "$results/$part.xml"/*.xml 2>/dev/null | awk -v part="$part" -v status="$status" -v broken="$results/$part.broken" '
        /<testsuites / { split($0, field, "\""); total += field[2]; failed += field[4]; skipped += field[6] }
        /<skipped/ { skipped++ }
        END {
            if (status && !failed) { failed = 1; print "it ended with status " status " without a failed test" >broken }
            print total - failed - skipped, failed + 0, skipped + 0 }' >"$results/$part"
    # A program that crashed leaves no report.
    awk '/\*\*\*(Exception|Timeout|Not Run)/' "$results/$part.out" | grep . >>"$results/$part.broken" || true
}

# ---- The parts ----------------------------------------------------------------------------------------------------------------------

run_structure() { check structure tests/structure/check; }

run_format() { check format bash -c 'scripts/sources | xargs clang-format --dry-run -Werror'; }

# Laws over thousands of random cases need minutes without optimisation; the part `release` runs them.
laws='MergeInvariants.*:CeilingInvariants.*:EngineInvariants.*:Renames.*:Repositories.*'
run_unit() {
    build_for_jails && scripts/build dev || return
    if ((${#only[@]})); then
        run_ctest unit build/dev -R "^($(IFS='|' && echo "${only[*]}"))\$"
    else
        tests/structure/after_clone build && GTEST_FILTER="-$laws" run_ctest unit build/dev -E '^(after_clone|laws_.*)$' -LE unlucky
    fi
}

# What build/sanitize leaves out, and all rounds of the laws.
compute_release() { scripts/build release; }
run_release() { computed release && run_ctest release build -L release; }

run_jail() { build_for_jails && start_all_beside && run_tap jail scripts/test-jail "${only[@]}"; }
build_for_jails() { scripts/build program && scripts/build walker && scripts/build judge; }

run_egress() { build_for_jails && run_tap egress scripts/test-egress "${only[@]}"; }

run_slurm() { scripts/build program && run_tap slurm scripts/test-slurm "${only[@]}"; }

# The other worlds need a cluster, or packages and a clean Debian.
run_docs() {
    ((${#only[@]})) || only=(check user tutorial network)
    [[ ${SBX_WHOLE:-} != 1 || ${only[*]} != "check user tutorial network" ]] || only+=(slurm root clone)
    scripts/build program && run_tap docs scripts/test-docs "${only[@]}"
}

run_site() { run_tap site scripts/test-site; }

run_runner() { run_tap runner scripts/test-runner; }

compute_packages() { scripts/build program && scripts/test-packages --make; }
run_packages() { computed packages && run_tap packages scripts/test-packages --made; }

# Without generated plans: a sanitizer's program needs a loader, which most of those jails do not show. The counts of what ran are of this run alone.
compute_sanitize() { scripts/build sanitize && scripts/build fuzz; }
run_sanitize() {
    computed sanitize || return
    rm -rf build/sanitize/profiles
    GTEST_FILTER='-RandomPlans.*' run_ctest sanitize build/sanitize
}

# The table is a trial: the one of docs/figures is made where its pages are (make promises).
run_coverage() { check coverage env FIGURES="$PWD/build/figures" scripts/coverage; }

run_fuzz() { run_tap fuzz scripts/fuzz; }

# TSan's memory has its place, which a layout by chance may have taken. And it has a thread of its own, with which no process may enter a
# user namespace: the tests that do are left to the other sanitizers.
in_user_namespaces=Datagrams.*:NameServer.AnswersFromTheAddressThatWasAsked:NameServer.TheSecondOneEndsWhatTheFirstRefuses
in_user_namespaces+=:NameServer.CutsWhatIsTooLargeForTheAsker:ResolverTest.AsksServersOverIpv6:Namespaces.AreRefusedWithEveryFlag
compute_thread() { scripts/build thread; }
run_thread() {
    local under=(setarch -R)
    computed thread && GTEST_FILTER="-$in_user_namespaces" run_ctest thread build/thread -L thread
}

compute_cppcheck() { scripts/cppcheck; }
run_cppcheck() { check cppcheck computed cppcheck; }

compute_tidy() { scripts/tidy; }
run_tidy() { check tidy computed tidy; }

run_agents() { scripts/build program && run_tap agents scripts/test-agents; }
