#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The rules of a running session: hosts that the user opens and closes meanwhile, hosts that need an approval, and requests that the
# rules would have refused.

load helper
setup() { start_egress_test; }
teardown() { end_egress_test; }

control() { as_user "$SBX_PROGRAM" "$@"; }
fetch() { tell_jail "curl -sS --max-time 30 $1"; }
# Fetches in the background inside: the answer goes to the file `answer`, and then the file `answered` appears.
fetch_later() {
    rm -f answer answered
    tell_jail "(curl -sS --max-time 30 $1 >answer 2>&1; touch answered) >/dev/null 2>&1 &"
}
is_pending() { [[ $(control pending --json) == *"\"$1\""* ]]; }
question_id() { control pending --json | grep -o '"id": *[0-9]*' | grep -o '[0-9]*$' | head -n 1; }

@test "a host that is blocked is closed at once, for open connections as well" {
    JAIL=(--network filtered)
    start_obedient_jail
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "the control"
    tell_jail '(exec 5<>/dev/tcp/good.example/80 && touch stands && { read -r -u 5; touch ended; }) >/dev/null 2>&1 &'
    wait_until test -e stands
    local before after
    before=$(date +%s%N)
    works control block good.example
    wait_until test -e ended
    after=$(date +%s%N)
    [[ $output == *"1 connection was closed"* ]] || report "should count the connection"
    # The command itself takes most of this time.
    (((after - before) / 1000000 < 1000)) || report "it took $(((after - before) / 1000000)) ms"
    fetch http://good.example/
    [[ $output != *"good.example here"* ]] || leak "should be refused"
    tell_jail "curl -sS --max-time 30 --proxy http://198.18.0.1:3128 http://good.example/"
    [[ $output == *"network.block closes it"* || $output == *"is refused"* ]] || report "should say why"
    fetch http://also.example/
    [[ $output == *"also.example here"* ]] || report "others are not concerned"
}

@test "a host that is allowed is open at once" {
    JAIL=(--network proxied)
    start_obedient_jail
    fetch http://good.example/
    [[ $output != *"good.example here"* ]] || leak "should be closed first"
    works control allow good.example
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should be open"
    tell_jail "agent-sandbox why host good.example"
    [[ $status == 0 ]] || report "why, inside, should know: $output"
    works control block good.example
    tell_jail "agent-sandbox why host good.example"
    [[ $status != 0 && $output == *closed* ]] || report "why, inside, should know: $output"
}

@test "a connection waits for the user's answer, and nothing leaves before it" {
    JAIL=(--network proxied --ask)
    start_obedient_jail
    log_mark
    fetch_later http://good.example/
    wait_until is_pending good.example
    sleep 0.3
    [[ ! -e answered ]] || leak "should wait"
    unseen dns good.example
    unseen web good.example
    run control approve "$(question_id)" --once
    ((status != 0)) && [[ $output == *"without --once"* && ! -e answered ]] || report "should be for requests alone"
    works control approve "$(question_id)"
    wait_until test -e answered
    [[ $(<answer) == *"good.example here"* ]] || report "should go on: $(<answer)"
    seen dns good.example
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should not be asked again"
}

@test "the user's denial reaches the agent with its reason" {
    JAIL=(--network proxied --ask)
    start_obedient_jail
    fetch_later http://good.example/
    wait_until is_pending good.example
    works control deny "$(question_id)" --reason "use the mirror"
    wait_until test -e answered
    [[ $(<answer) == *"the user denied it: use the mirror"* ]] || report "should say why: $(<answer)"
    fetch http://good.example/
    [[ $output == *"the user denied it: use the mirror"* ]] || report "should not be asked again"
    tell_jail "agent-sandbox why host good.example:80"
    [[ $output == *"use the mirror"* ]] || report "why, inside, should say it"
}

@test "a client that disconnects removes its question" {
    JAIL=(--network proxied --ask)
    start_obedient_jail
    tell_jail "curl -sS --max-time 1 http://good.example/"
    ((status != 0))
    is_gone_question() { ! is_pending good.example; }
    wait_until is_gone_question
}

@test "addresses, mail and blocked hosts raise no question" {
    JAIL=(--network filtered --ask --block-host evil.example)
    start_obedient_jail
    local url
    for url in http://evil.example/ http://203.0.113.1/ telnet://good.example:25; do
        tell_jail "timeout 5 curl -sS --max-time 3 $url </dev/null"
        [[ $(control pending --json) != *'"id"'* ]] || leak "should not ask: $url"
    done
}

@test "with --observe a connection passes and is recorded with the rule that would refuse it" {
    JAIL=(--network proxied --observe)
    start_obedient_jail
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should pass"
    tell_jail "curl -sS --max-time 30 http://169.254.169.254/"
    [[ $output == *"169.254.169.254:80 is refused"* ]] || report "the floor stays"
    local record=("$SBX_HOME"/.local/state/agent-sandbox/sessions/*.jsonl)
    has_line() { grep -q '"verdict":"observed".*"name":"good.example".*"change":"--allow-host good.example"' "${record[@]}"; }
    wait_until has_line
}

@test "rules that need more than the session has are refused, and nothing changes" {
    JAIL=(--network filtered)
    start_obedient_jail
    run control allow udp:good.example:4242
    ((status != 0)) && [[ $output == *restart* ]] || report "should say that a restart is needed"
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should be as before"
}

@test "reload reads all files or changes nothing, and names what needs a restart" {
    user_says '[network]' 'mode = "proxied"' 'allow = ["also.example"]'
    JAIL=()
    start_obedient_jail
    fetch http://good.example/
    [[ $output != *"good.example here"* ]] || leak "should be closed first"
    user_says '[network]' 'mode = "proxied"' 'allow = ["good.example"]' '[limits]' 'memory = "1G"'
    works control reload
    [[ $output == *limits.memory* && $output == *restart* ]] || report "should name what needs a restart"
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should be open"
    fetch http://also.example/
    [[ $output != *"also.example here"* ]] || leak "should be closed: it is written there no more"
    # One bad entry makes the program ignore the whole file.
    user_says '[network]' 'mode = "proxied"' 'allow = ["also.example", "not a host"]'
    run control reload
    ((status != 0)) && [[ $output == *config.toml* ]] || report "should name the file"
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "should be as before"
    fetch http://also.example/
    [[ $output != *"also.example here"* ]] || leak "should be as before"
}

# There the jail does not have its own network; it passes its connections to the gateway one by one.
@test "questions and live rules work where Landlock alone builds the jail" {
    JAIL=(--backend landlock --network proxied --ask --allow-host also.example)
    start_obedient_jail
    fetch_later http://good.example/
    wait_until is_pending good.example
    works control approve "$(question_id)"
    wait_until test -e answered
    [[ $(<answer) == *"good.example here"* ]] || report "should go on: $(<answer)"
    fetch_later http://evil.example/
    wait_until is_pending evil.example
    works control deny "$(question_id)" --reason "use the mirror"
    wait_until test -e answered
    [[ $(<answer) == *"use the mirror"* ]] || report "should say why: $(<answer)"
    tell_jail "agent-sandbox why host evil.example:80"
    [[ $output == *"use the mirror"* ]] || report "why, inside, should say it"
    works control block also.example
    tell_jail "agent-sandbox why host also.example"
    [[ $status != 0 && $output == *closed* ]] || report "why, inside, should know: $output"
}
