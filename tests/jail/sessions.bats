#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions as their user sees them from another terminal: listed, shown, controlled and ended; and not reachable from inside.

load helper

setup() {
    start_test
    PLACE=/tmp/agent-sandbox-u$(id -u)
    rm -rf "$PLACE"
}
teardown() {
    end_test
    rm -rf "$PLACE"
}

SLEEP='touch ready; exec sleep 1000'

sandbox() { "$SBX_PROGRAM" "$@"; }
ids() { sandbox ps --ids; }
only_id() { ids | head -n1; }
is_count() { [[ $(ids | wc -l) == "$1" ]]; }
says() {
    local text=$1
    shift
    works "$@"
    [[ $output == *"$text"* ]] || report "should say '$text': $*"
}
# ask SOCKET REQUEST: prints the session's answer to this client.
ask() { "${ASK[@]}" "$@"; }

# ---- Listing -----------------------------------------------------------------------------------------------------------

# bats test_tags=smoke
@test "ps and inspect show what runs, by any prefix of its id" {
    prints "no session is running" sandbox ps
    start_jail "$SLEEP"
    local id
    id=$(sandbox ps --json | member sessions 0 session)
    [[ $id =~ ^[0-9a-f]{32}$ ]]
    says "${id:0:8}" sandbox ps
    [[ $output == *"~/project"* && $output == *"touch ready"* && ${#lines[@]} == 2 ]] || report "names what runs"
    [[ -z $(LC_ALL=C.UTF-8 grep -E '.{81}' <<<"$output") ]] || report "fits 80 columns"
    [[ $(sandbox ps --json | member sessions 0 pid) == "$SUPERVISOR" ]] || report "the supervisor's pid"
    local prefix
    for prefix in "${id:0:4}" "${id:0:8}" "$id"; do says "session $id" sandbox inspect "$prefix"; done
    says "Limits" sandbox inspect
    [[ $(sandbox inspect --json | member session session) == "$id" ]] || report "the session's id"
    refused 2 "is not a session" sandbox inspect "${id:0:3}"
    refused 2 "is not a session" sandbox inspect ../../etc
    refused 1 "there is no session" sandbox inspect ffffffffffffffff
    kill "$SUPERVISOR"
    end_of_jail
    prints "no session is running" sandbox ps
    prints "" ls "$PLACE/sessions"
}

@test "a session whose supervisor was killed is not listed" {
    start_jail "$SLEEP"
    is_count 1
    local directory
    directory=$(echo "$PLACE"/sessions/*)
    works test -e "$directory/session.json"
    kill -KILL "$SUPERVISOR"
    end_of_jail
    wait_until is_count 0
    wait_until test ! -e "$directory"
}

# The keeper may be killed before it cleans up.
@test "a session directory without a running session is removed, others stay" {
    start_jail "$SLEEP"
    local directory copy
    directory=$(echo "$PLACE"/sessions/*)
    copy=$PLACE/sessions/$(printf 'a%.0s' {1..32})
    cp -r "$directory" "$copy"
    is_count 1
    works test -e "$directory/session.json"
    fails "" test -e "$copy"
}

@test "twenty sessions at once are all seen, while others come and go" {
    local number
    for number in {1..20}; do
        "$SBX_PROGRAM" --quiet -- sh -c "touch ready.$number; exec sleep 1000" </dev/null >/dev/null 2>&1 3>&- &
        CHILDREN+=($!)
        (( number % 5 )) || in_jail true
    done
    has_started() { [[ $(ls ready.* 2>/dev/null | wc -l) == 20 ]]; }
    wait_until has_started
    wait_until is_count 20
    prints 20 sh -c "$SBX_PROGRAM monitor --once --json | grep -c uptime_ms"
    refused 1 "several sessions are running" sandbox inspect
    works sandbox stop $(ids)
    [[ ${#lines[@]} == 20 ]] || report "says that each has ended"
    is_count 0
}

# ---- Ending ------------------------------------------------------------------------------------------------------------

@test "stop asks the command to end and waits for it" {
    start_jail 'trap "echo tidied >tidied; exit 7" TERM; touch ready; while :; do sleep 0.05; done'
    works sandbox stop "$(only_id)"
    prints tidied cat tidied
    end_of_jail
    is_count 0
}

@test "stop --now does not wait for the command" {
    start_jail 'trap "echo tidied >tidied" TERM; touch ready; while :; do sleep 0.05; done'
    works sandbox stop --now "$(only_id)"
    end_of_jail
    [[ $STATUS != 0 && ! -e tidied ]]
    is_count 0
}

@test "stop with a mistyped session ends no other session" {
    start_jail "$SLEEP"
    refused 1 "there is no session" sandbox stop "$(only_id)" ffffffff
    is_count 1
    refused 2 "stop needs to know which session" sandbox stop
}

# ---- Control -----------------------------------------------------------------------------------------------------------

@test "a host is allowed and blocked while the session runs" {
    JAIL=(--network filtered)
    start_jail "$SLEEP"
    says "one.example is allowed from now on" sandbox allow one.example
    says "two.example is blocked from now on" sandbox block two.example --session "$(only_id)"
    says "Changed since the start" sandbox inspect
    [[ $output == *one.example* && $output == *two.example* ]] || report "shows the changes"
    says "the policy was read again" sandbox reload
    run sandbox allow 'not a host'
    ((status != 0)) || report "refuses what is no host"
    refused 2 "takes one host" sandbox allow
    refused 1 "there is no session" sandbox block a.example --session=ffffffff
}

@test "a request waits for the user's answer, and the answer reaches the jail" {
    JAIL=(--network filtered --ask)
    prints "no request waits for an answer" sandbox pending
    start_jail 'touch ready; curl -sS --noproxy "*" http://unknown.example:81/; touch done'
    has_question() { [[ $(sandbox pending) == *unknown.example:81* ]]; }
    wait_until has_question || { sandbox pending >&2; cat "$BATS_TEST_TMPDIR/jail.out" >&2; return 1; }
    [[ ! -e done ]]
    says '"name"' sandbox pending --json
    says "1 question" sandbox monitor --once
    refused 1 "question 4711" sandbox approve 4711
    refused 2 "is not the number" sandbox deny first
    says "unknown.example:81 is refused" sandbox deny --reason "not this one"
    wait_until test -e done
    end_of_jail
    grep -q "the user denied it: not this one" "$BATS_TEST_TMPDIR/jail.out"
    works sh -c "grep -h '\"kind\":\"answer\"' ~/.local/state/agent-sandbox/sessions/*.jsonl"
    [[ $output == *'"verdict":"deny"'* && $output == *"not this one"* ]] || report "records the answer"
}

# ---- From inside -------------------------------------------------------------------------------------------------------

# Threat: a jail that reached the control socket of its own or another session could open the network for itself.
@test "a jail sees no session and reaches no control socket" {
    local backend inside socket own
    start_jail "$SLEEP"
    socket=$(echo "$PLACE"/sessions/*/control)
    works ask "$socket" '{"do":"status"}'
    [[ $output == *'"ok":true'* ]] || report "answers outside"
    for backend in native bwrap firejail landlock; do
        JAIL=(--backend "$backend")
        inside=$(in_jail echo works 2>&1) || { echo "# $backend is not to be had here: $inside" >&3; continue; }
        fails "" in_jail ls "$PLACE/sessions"
        fails "connect: " in_jail "${ASK[@]}" "$socket" '{"do":"stop","now":true}'
        # It finds no control socket. With the path of its own socket, it can't connect to it either.
        finds() { in_jail_sh 'find / -xdev -name control -type s; find /tmp /run -name "agent-sandbox-u*"' 2>/dev/null; }
        run finds
        [[ -z $output ]] || leak "should find nothing"
        rm -f own answer
        start_jail 'touch ready; until test -e own; do sleep 0.05; done; python3 "$1" "$(cat own)" "{\"do\":\"status\"}" >answer.new 2>&1; mv answer.new answer' "${ASK[1]}"
        own=$(ls "$PLACE"/sessions/*/control | grep -vxF "$socket")
        works ask "$own" '{"do":"status"}'
        echo "$own" >own.new && mv own.new own
        wait_until test -e answer
        fails "" grep -q '"ok"' answer
        works grep "^connect: " answer
        end_of_jail
    done
    is_count 1
}

# Threat: if a jail could write the runtime directory, it could remove its session from the list, or add a false one.
@test "a runtime directory within the project is hidden from the jail" {
    local backend
    mkdir -m 0700 runtime
    for backend in native bwrap; do
        run env XDG_RUNTIME_DIR="$PWD/runtime" "$SBX_PROGRAM" --quiet --backend "$backend" -- \
            sh -c 'ls runtime/agent-sandbox/sessions 2>/dev/null; mkdir -p runtime/agent-sandbox/sessions/00 2>/dev/null && echo planted; true'
        [[ $status == 0 && -z $output ]] || leak "$backend: nothing is to be seen or made"
        [[ -d runtime/agent-sandbox/sessions && ! -e runtime/agent-sandbox/sessions/00 ]] || leak "it lies there, and nothing is planted"
    done
    rm -rf runtime
}

@test "inside a jail the verbs report that they work outside only" {
    local verb
    for verb in ps inspect "stop aaaa" "allow a.example" "block a.example" reload "publish 8080" pending approve deny "monitor --once"; do
        fails "is for the outside of a jail" in_jail_sh '/run/agent-sandbox/agent-sandbox $1' "$verb"
    done
}

@test "only its user can use the sessions' directory, and one with another owner or mode is not used" {
    start_jail "$SLEEP"
    prints 700 stat -c %a "$PLACE"
    prints 700 stat -c %a "$PLACE"/sessions/*
    chmod 0777 "$PLACE/sessions"
    prints "no session is running" sandbox ps
    chmod 0700 "$PLACE/sessions"
    is_count 1
    # The user's runtime directory comes first, and its sessions are found together with these.
    mkdir -m 0700 "$HOME/runtime"
    export XDG_RUNTIME_DIR=$HOME/runtime
    start_jail "$SLEEP"
    works test -d "$XDG_RUNTIME_DIR/agent-sandbox/sessions/"*
    is_count 2
}
