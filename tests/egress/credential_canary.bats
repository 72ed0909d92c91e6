#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The value of a credential is nowhere but in its source, in the gateway's memory and at its host. The search (canary.py) knows plain,
# reversed, hexadecimal, percent-encoded, base64 and UTF-16 forms. Its controls: it finds planted values in all forms, and it finds the
# value in the memory of the gateway and in the source.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

finds_nothing() {
    works "$@"
    [[ $output != *FOUND* ]] || report "should find nothing: $*"
}

@test "the search finds a planted value in every form, outside and inside" {
    works as_user python3 canary.py "$MASKED" plant "$PROJECT"
    [[ $output == *"the search finds"* && $output == *"planted memory"* ]] || report "should find each form"
    works brokered python3 canary.py "$MASKED" plant /tmp
    [[ $output == *"the search finds"* && $output == *"planted memory"* ]] || report "should find each form"
}

@test "no byte that the jail can read holds the value, also while the gateway uses it" {
    define_tracker 'when = "always"' 'files = ["~/.tracker"]' 'fields = ["token"]'
    printf 'token=%s\nname=plain\n' "$VALUE" >"$SBX_HOME/.tracker"
    chown "$SBX_USER" "$SBX_HOME/.tracker"
    start_brokered_jail --verbose
    tell_jail 'curl -sS --max-time 100 https://good.example/private; curl -sSi --max-time 100 https://good.example/mirror; git ls-remote https://git.example/private-git/one.git | head -1'
    [[ $output == *welcome* && $output == *"seen: Bearer ****"* ]] || report "should work"
    seen values "|Bearer $VALUE|"
    tell_jail "python3 canary.py $MASKED jail"
    [[ $status == 0 && $output == *"searched"*"processes"* ]] || report "should search"
    [[ $output != *FOUND* ]] || report "should find nothing in the jail"
    tell_jail 'cat ~/.tracker'
    [[ $output == *"name=plain"* && $output == *"token=tok_"* ]] || report "should have the copy"
    # The same with every home directory.
    local access
    for access in read write; do
        JAIL+=(--home "$access")
        finds_nothing brokered_sh 'curl -sS --max-time 100 https://good.example/private; python3 canary.py "$1" jail' "$MASKED"
        # In a home that the jail can write, the source is refused.
        [[ $output == *welcome*searched* || ($access == write && $output == *searched*) ]] || report "should work and search"
    done
}

@test "the value is in the gateway's memory alone, and not in the supervisor's" {
    define_tracker 'when = "always"'
    start_brokered_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    local process
    # Root can read all of them: this is the control.
    works python3 canary.py "$MASKED" memory "$GATEWAY"
    [[ $output == *"FOUND /proc/$GATEWAY/mem"*plain* ]] || report "should be in the gateway's memory"
    [[ $output != *environ* && $output != *cmdline* && $output != */fd/* ]] || report "should be in its memory alone"
    for process in "$SUPERVISOR" $(descendants "$SUPERVISOR"); do
        [[ $process == "$GATEWAY" ]] || finds_nothing python3 canary.py "$MASKED" memory "$process"
    done
    # Its own user can't.
    run as_user cat "/proc/$GATEWAY/mem" "/proc/$GATEWAY/environ" "/proc/$GATEWAY/maps"
    ((status != 0)) || report "should be refused"
    [[ $output != *"$VALUE"* ]]
    works as_user cat "/proc/self/environ"
}

@test "record, session directory, plan and messages do not hold the value" {
    define_tracker 'when = "always"'
    local out=$BATS_TEST_TMPDIR/out state=$SBX_HOME/.local/state
    mkdir -p "$out"
    start_brokered_jail --verbose
    tell_jail 'curl -sS --max-time 100 "https://good.example/private/path?key=x"; curl -sS -H "Authorization: Bearer other" https://good.example/private; curl -sS https://good.example/%2e%2e/x; true'
    [[ $output == *welcome* ]] || report "should work"
    local id
    id=$(as_user "$SBX_PROGRAM" ps --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4)
    local verb
    for verb in "ps" "ps --json" "inspect $id" "inspect $id --json" "pending --json" "secret list" "secret list --json" "secret test tracker" "why credential tracker" \
        "plan --credential tracker" "plan --credential tracker --json" "config show" "why request GET https://good.example/private" "log $id" "log $id --json" "digest" "digest --json" "monitor --once" "monitor --once --json"; do
        # shellcheck disable=SC2086
        as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" timeout 60 "$SBX_PROGRAM" $verb >"$out/${verb//[ \/]/-}" 2>&1 </dev/null || true
    done
    cp "$BROKERED_OUT" "$out/messages"
    finds_nothing python3 canary.py "$MASKED" files "$out"
    local file
    for file in plan---credential-tracker---json monitor---once "inspect-$id---json" messages secret-list "log-$id"; do
        [[ -s $out/$file ]] || { ls -l "$out" >&2; report "should have said something: $file"; }
    done
    # The session's directory and everything of the user, except the source.
    finds_nothing python3 canary.py "$MASKED" files "$state" "$SBX_HOME/.config" "$SBX_HOME/.cache" "$PROJECT" /run/user "/tmp" /dev/shm
    grep -rqs '"kind":"request"' "$state" || report "should be recorded"
    works python3 canary.py "$MASKED" files "$SBX_HOME"
    [[ $(grep -c FOUND <<<"$output") == 1 && $output == *"FOUND $SBX_HOME/keys/tracker plain"* ]] || report "should find the source alone"
    kill "$SUPERVISOR" && wait "$SUPERVISOR" || true
    cp "$BROKERED_OUT" "$out/messages"
    finds_nothing python3 canary.py "$MASKED" files "$out/messages" "$state"
}

@test "a gateway that is killed leaves no core and no message with the value" {
    define_tracker 'when = "always"'
    (ulimit -c unlimited; cd "$PROJECT" && start_brokered_jail --verbose && declare -p SUPERVISOR GATEWAY >"$BATS_TEST_TMPDIR/processes")
    . "$BATS_TEST_TMPDIR/processes"
    CHILDREN+=("$SUPERVISOR") # which the subshell could not add: the end of the test ends them
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    grep -q '^0x00000000$\|^0$\|^00000000$' "/proc/$GATEWAY/coredump_filter" || [[ $(awk '/Max core file size/ { print $5 }' "/proc/$GATEWAY/limits") == 0 ]] ||
        report "should write no core"
    kill -SEGV "$GATEWAY"
    wait_until is_gone "$GATEWAY"
    finds_nothing python3 canary.py "$MASKED" files "$BATS_TEST_TMPDIR/jail.out" "$PROJECT" "$SBX_HOME/.local" /tmp
}
