#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Requests that wait for the user's answer (requests.ask): pending, approve, deny. The control of each is the same request with another
# answer.

load helper

VALUE=tok_c4naryVALUEc4naryVALUEc4naryVALUE

setup() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/keys"
    printf '%s\n' "$VALUE" >"$SBX_HOME/keys/tracker"
    chown -R "$SBX_USER" "$SBX_HOME/keys"
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN"' 'when = "always"' \
        'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' '' '[requests]' 'ask = ["POST good.example/private/**"]'
    proxied --credential tracker
    local TRUST=(A=b) AS_USER=("${AS_USER[@]}" SSL_CERT_FILE="$SBX_STAGE/authority.crt")
    start_obedient_jail
    log_mark
}
teardown() { end_egress_test; }

control() { as_user "$SBX_PROGRAM" "$@"; }
post() { tell_jail "curl -sSi --max-time 60 -d text https://good.example/private/$1"; }
# post_later NAME PATH: the answer goes to the file NAME, and then the file NAME.done appears.
post_later() {
    rm -f "$1" "$1.done"
    tell_jail "(curl -sSi --max-time 60 -d text https://good.example/private/$2 >$1 2>&1; touch $1.done) >/dev/null 2>&1 &"
}
waits() { [[ $(control pending) == *"POST good.example/private/$1, with tracker"* ]]; }
question_id() { control pending --json | grep -o '"id": *[0-9]*' | grep -o '[0-9]*$' | head -n 1; }

@test "a request waits for the user's answer, and is asked about once in a session" {
    post_later answer pulls
    wait_until waits pulls
    [[ ! -e answer.done ]] || report "should wait"
    unseen values POST
    works control approve
    [[ $output == *"POST good.example/private/pulls, with tracker is allowed" ]] || report "should name the request"
    wait_until test -e answer.done
    [[ $(<answer) == *welcome* ]] || report "should go on: $(<answer)"
    seen values "|Bearer $VALUE|"
    post pulls
    [[ $output == *welcome* ]] || report "should not be asked again"
    # Another method is permitted in any case; another path is another question.
    tell_jail "curl -sS --max-time 60 https://good.example/private/other"
    [[ $output == *welcome* ]] || report "the control"
    post_later answer other
    wait_until waits other
}

@test "once is one request, also if several of the same kind wait" {
    post_later one pulls
    wait_until waits pulls
    post_later two pulls
    local id
    id=$(question_id)
    works control approve "$id" --once
    [[ $output == *"is allowed once" ]] || report "should say once"
    wait_until test -e one.done
    wait_until waits pulls
    [[ $(question_id) != "$id" && ! -e two.done ]] || report "the second one should be asked about again"
    works control approve --once
    wait_until test -e two.done
    [[ $(<one) == *welcome* && $(<two) == *welcome* ]] || report "should go on: $(<one) $(<two)"
    post_later three pulls
    wait_until waits pulls
}

@test "the user's denial reaches the agent with its reason" {
    post_later answer pulls
    wait_until waits pulls
    works control deny --reason "not on Fridays"
    wait_until test -e answer.done
    [[ $(<answer) == *" 403"*"x-agent-sandbox: request_denied"*"the user denied it: not on Fridays"* ]] || report "should say why: $(<answer)"
    post pulls
    [[ $output == *"not on Fridays"* ]] || report "should not be asked again"
    unseen values POST
    works control log last --denied
    [[ $output == *"POST good.example/private/pulls"* ]] || report "should be recorded"
}

@test "a client that leaves takes its question with it" {
    # The kernel reports the end of a client behind its last byte, so the body must be small enough to arrive.
    tell_jail "head -c 30000 /dev/zero >body; (curl -sS --max-time 600 --data-binary @body https://good.example/private/pulls & echo \$! >client) >/dev/null 2>&1"
    wait_until waits pulls
    tell_jail 'kill $(cat client)'
    is_withdrawn() { grep -rqs '"kind":"answer".*"path":"/private/pulls".*no request waits' "$SBX_HOME/.local/state/agent-sandbox/sessions"; }
    wait_until is_withdrawn
    ! waits pulls || report "should not wait"
    unseen values POST
}

@test "inspect shows the question, and an answer to no question is an error" {
    post_later answer pulls
    wait_until waits pulls
    works control inspect
    [[ $output == *"POST good.example/private/pulls"* ]] || report "should be shown"
    run control approve 99
    ((status != 0)) && [[ $output == *"question 99"* ]] || report "should say that there is none"
}
