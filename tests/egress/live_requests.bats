#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Rules about requests and values of credentials that change while a session runs. The control of each refusal is the same request
# before the change, or after the opposite one.

load helper

VALUE=tok_c4naryVALUEc4naryVALUEc4naryVALUE
OTHER=tok_0therVALUE0therVALUE0therVALUE0th

setup() {
    start_egress_test
    install -d -o "$SBX_USER" -m 0700 "$SBX_HOME/keys"
    value_is "$VALUE"
    define_tracker 'block = ["DELETE good.example/**", "DELETE echo.example:9006/**"]'
    proxied --credential tracker
    local TRUST=(A=b) AS_USER=("${AS_USER[@]}" SSL_CERT_FILE="$SBX_STAGE/authority.crt")
    start_obedient_jail
    log_mark
}
teardown() { end_egress_test; }

# define_tracker [LINE...]: the lines belong to [requests].
define_tracker() {
    user_says '[credential.tracker]' 'hosts = ["good.example"]' 'put = "bearer"' 'variable = "TRACKER_TOKEN"' 'when = "always"' \
        'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' '' '[requests]' "$@"
}
value_is() {
    printf '%s\n' "$1" >"$SBX_HOME/keys/tracker"
    chown -R "$SBX_USER" "$SBX_HOME/keys"
}
control() { as_user "$SBX_PROGRAM" "$@"; }
fetch() { tell_jail "curl -sSi --max-time 60 $1"; }
policy_of() { control inspect --json | grep -o '"policy": *"[0-9a-f]*"' | head -n 1; }
# The issuer of the certificate that a program in the jail gets from a host.
issuer_of() { tell_jail "openssl s_client -connect $1:443 -servername $1 </dev/null 2>/dev/null | openssl x509 -noout -issuer"; }
# talk_later FILE: two requests on one connection; the second waits for the file `go`.
talk_later() {
    local request='GET /private/a HTTP/1.1\r\nHost: good.example\r\n\r\n'
    rm -f go "$1"
    tell_jail "( (printf '$request'; until [[ -e go ]]; do sleep 0.05; done; printf '$request'; sleep 60) | openssl s_client -quiet -connect good.example:443 -servername good.example >$1 2>/dev/null) >/dev/null 2>&1 &"
}

@test "a request is blocked and allowed while the session runs, also on an open connection" {
    talk_later answers
    wait_until grep -q welcome answers
    works control block 'GET good.example/private/a'
    [[ $output == *"GET good.example/private/a is blocked from now on"* ]] || report "should say so"
    touch go
    wait_until grep -q request_refused answers
    [[ $(grep -c "200 OK" answers) == 1 ]] || report "the connection should be the same: $(<answers)"
    fetch https://good.example/private/a
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "should be refused"
    fetch https://good.example/private/b
    [[ $output == *welcome* ]] || report "others are not concerned"
    works control allow 'GET good.example/private/a'
    [[ $output == *"other requests to it are refused"* ]] || report "should name the further effect"
    fetch https://good.example/private/a
    [[ $output == *welcome* ]] || report "the later command counts"
    fetch https://good.example/private/b
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "the host has an allow list now"
}

@test "a rule that names a further host is enforced at once, with a certificate of the session" {
    issuer_of also.example
    [[ $output != *agent-sandbox* && $output == *issuer* ]] || report "the control: it is not read"
    fetch "-X DELETE https://also.example/"
    [[ $output != *x-agent-sandbox* ]] || report "the control"
    # A connection that stands is not read, so it must end.
    tell_jail '(sleep 600 | { openssl s_client -quiet -connect also.example:443 -servername also.example >opaque 2>&1; touch ended; }) >/dev/null 2>&1 &'
    wait_until grep -q depth opaque
    [[ ! -e ended ]] || report "the control: it stands"
    works control block 'DELETE also.example/**'
    wait_until test -e ended
    fetch "-X DELETE https://also.example/"
    [[ $output == *"x-agent-sandbox: request_refused"*"agent-sandbox block"* ]] || report "should be refused by the command's entry"
    fetch https://also.example/
    [[ $output == *"also.example here"* ]] || report "the certificate should be trusted"
    issuer_of also.example
    [[ $output == *"agent-sandbox session intermediate"* ]] || report "should be read now"
    # The other names still work, with the new intermediate.
    fetch https://good.example/private/a
    [[ $output == *welcome* ]] || report "the first name should still work"
    issuer_of npm.example
    [[ $output != *agent-sandbox* ]] || report "a host that no rule names stays opaque"
}

@test "a WebSocket that new rules do not permit is closed" {
    tell_jail '(exec 5<>/dev/tcp/echo.example/9006; printf "GET /ws HTTP/1.1\r\nHost: echo.example:9006\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\nhello\n" >&5; while read -r -u 5 line; do echo "$line" >>socket; done; touch ended) >/dev/null 2>&1 &'
    wait_until grep -q hello socket
    works control block 'GET echo.example:9006/other'
    [[ ! -e ended && $output != *closed* ]] || report "another path is not concerned"
    works control block 'GET echo.example:9006/ws'
    [[ $output == *"1 connection was closed"* ]] || report "should be counted"
    wait_until test -e ended
}

@test "reload reads [requests] again, and the digest of the policy depends on nothing else" {
    local before
    # Files that a first start makes are a part of the policy.
    works control reload
    before=$(policy_of)
    works control reload
    [[ $output != *restart* && $(policy_of) == "$before" ]] || report "nothing has changed: $(policy_of), before $before"
    define_tracker 'block = ["DELETE good.example/**", "POST good.example/**", "DELETE also.example/**"]'
    fetch "-d text https://good.example/private/a"
    [[ $output == *welcome* ]] || report "the control"
    works control reload
    [[ $output != *restart* && $(policy_of) != "$before" ]] || report "should be applied"
    fetch "-d text https://good.example/private/a"
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "should be refused"
    fetch "-X DELETE https://also.example/"
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "a further host, too"
    # A mistake changes nothing.
    define_tracker 'block = ["DELETE"]'
    run control reload
    ((status != 0)) || report "should be refused"
    fetch "-d text https://good.example/private/a"
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "the old rules should stay"
}

@test "two sessions with the same policy have the same digest" {
    local first
    works control reload
    first=$(policy_of)
    works as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- true
    works control log last --json
    [[ $output == *"${first##*: }"* ]] || report "should be the digest ${first##*: }"
}

@test "a request that waits for an answer is judged by new rules" {
    define_tracker 'ask = ["POST good.example/private/**"]'
    works control reload
    rm -f answer answer.done
    tell_jail "(curl -sSi --max-time 60 -d text https://good.example/private/pulls >answer 2>&1; touch answer.done) >/dev/null 2>&1 &"
    waits() { [[ $(control pending) == *"POST good.example/private/pulls"* ]]; }
    wait_until waits
    works control block 'POST good.example/private/pulls'
    wait_until test -e answer.done
    [[ $(<answer) == *"x-agent-sandbox: request_refused"* ]] || report "should be refused: $(<answer)"
    ! waits || report "should not wait"
    unseen values POST
}

@test "the administrator's rules hold whatever a live rule permits" {
    mkdir -p /etc/agent-sandbox
    printf '%s\n' '[requests]' 'block = ["POST good.example/private/admin"]' 'allow = ["GET also.example/**"]' >/etc/agent-sandbox/config.toml
    run control reload
    local reloaded=$status
    run control allow 'POST good.example/private/admin'
    local lifted=$status text=$output
    run control allow 'DELETE also.example/private'
    local raised=$status
    rm -rf /etc/agent-sandbox
    ((reloaded == 0)) || report "should be read"
    ((lifted != 0)) && [[ $text == *"stays refused"* ]] || { output=$text; report "should not be lifted"; }
    ((raised != 0)) || report "should not be raised"
    fetch "-d text https://good.example/private/admin"
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "should be refused"
    fetch "-X DELETE https://also.example/private"
    [[ $output == *"x-agent-sandbox: request_refused"* ]] || report "should be refused"
    works control reload
    fetch "-d text https://good.example/private/admin"
    [[ $output == *welcome* ]] || report "the control: without the administrator's file"
}

@test "a rule about a push is added" {
    works control allow 'fetch git.example/**'
    works control allow 'push git.example/private-git/one refs/heads/agent/*'
    tell_jail 'rm -rf clone; git clone -q https://git.example/one.git clone 2>&1; git ls-remote https://git.example/private-git/one.git 2>&1'
    [[ $output != *"requests.git permits"* ]] || report "a fetch should be permitted"
    run control block 'push git.example/private-git/one refs/heads/agent/*'
    ((status != 0)) && [[ $output == *"git-receive-pack"* ]] || report "should name what to block"
}

@test "why answers inside about requests, pushes and credentials of the session" {
    tell_jail "agent-sandbox why request DELETE https://good.example/a"
    [[ $status == 1 && $output == *refused*"DELETE good.example/**"* ]] || report "should name the entry"
    tell_jail "agent-sandbox why request GET good.example/a"
    [[ $status == 0 && $output == *permitted*"the credential tracker is for this request"* ]] || report "should name the credential"
    tell_jail "agent-sandbox why push good.example/me/app main"
    [[ $status == 0 ]] || report "no entry refuses it"
    tell_jail "agent-sandbox why credential tracker"
    [[ $status == 0 && $output == *used*good.example*TRACKER_TOKEN* && $output != *"keys/tracker"* ]] || report "should explain it without its source"
    tell_jail "agent-sandbox why credential github"
    [[ $status == 1 && $output == *"not used"*"--credential github"* ]] || report "should say how to use it"
}

@test "a session that was started without rules and credentials refuses one, and says what to do" {
    kill -TERM "$SUPERVISOR"
    wait_until is_gone "$SUPERVISOR"
    user_says '[ui]' 'quiet = true'
    JAIL=(--network filtered)
    start_obedient_jail
    run control allow 'GET good.example/**'
    ((status != 0)) && [[ $output == *"can't judge requests"*'requests.allow = ["GET good.example/**"]'*"start the session again"* ]] || report "should say what to do"
    fetch http://good.example/
    [[ $output == *"good.example here"* ]] || report "nothing should have changed"
    user_says '[requests]' 'block = ["DELETE good.example/**"]'
    works control reload
    [[ $output == *"a restart is needed for: requests.block"* ]] || report "should name the setting"
}

# ---- Values

# Another session, with the credential `own` of also.example, whose value is in the program's own store.
start_with_own() {
    kill -TERM "$SUPERVISOR"
    wait_until is_gone "$SUPERVISOR"
    user_says '[credential.own]' 'hosts = ["also.example"]' 'put = "bearer"' 'variable = "OWN_TOKEN"' 'when = "always"' 'shape = "tok_{40}"'
    as_user "$SBX_PROGRAM" secret add own <<<"$VALUE"
    proxied --credential own
    local TRUST=(A=b) AS_USER=("${AS_USER[@]}" SSL_CERT_FILE="$SBX_STAGE/authority.crt")
    start_obedient_jail
    log_mark
}

@test "reload gets the value anew from a source that has changed" {
    fetch https://good.example/private/a
    seen values "|Bearer $VALUE|"
    tell_jail 'echo "$TRACKER_TOKEN"'
    local placeholder=$output
    value_is "$OTHER"
    fetch https://good.example/private/a
    unseen values "|Bearer $OTHER|"
    works control reload
    fetch https://good.example/private/a
    seen values "|Bearer $OTHER|"
    # Another source, too.
    printf '%s\n' "$VALUE" >"$SBX_HOME/keys/second"
    chown "$SBX_USER" "$SBX_HOME/keys/second"
    sed -i 's,keys/tracker,keys/second,' "$SBX_HOME/.config/agent-sandbox/config.toml"
    works control reload
    log_mark
    fetch https://good.example/private/a
    seen values "|Bearer $VALUE|"
    tell_jail 'echo "$TRACKER_TOKEN"'
    [[ $output == "$placeholder" ]] || report "the placeholder should stay"
    # Hosts can't change: the session has no trust for them.
    sed -i 's,hosts = \["good.example"\],hosts = ["good.example"\, "also.example"],' "$SBX_HOME/.config/agent-sandbox/config.toml"
    works control reload
    [[ $output == *"a restart is needed for: credential.tracker"* ]] || report "should name the credential"
    log_mark
    fetch https://also.example/private/a
    unseen values "|Bearer $VALUE|"
}

@test "secret add and secret remove take effect in running sessions" {
    start_with_own
    fetch https://also.example/private/a
    seen values "|Bearer $VALUE|"
    run as_user "$SBX_PROGRAM" secret add own <<<"$OTHER"
    [[ $output == *"1 running session gets it anew"* ]] || report "should name the session"
    fetch https://also.example/private/a
    seen values "|Bearer $OTHER|"
    works control secret remove own
    [[ $output == *"own: removed; 1 running session dropped its value"* ]] || report "should name the session"
    log_mark
    fetch https://also.example/private/a
    [[ $output == *"x-agent-sandbox: credential_unavailable"* ]] || report "should be gone"
    unseen values "|Bearer"
    run as_user "$SBX_PROGRAM" secret add own <<<"$VALUE"
    fetch https://also.example/private/a
    seen values "|Bearer $VALUE|"
}

tail_is() { [[ $(tail -qn 1 codes.1 codes.2 codes.3 codes.4 | sort -u) == "$1" ]]; }

@test "values are removed and replaced while requests run" {
    start_with_own
    tell_jail '(for i in 1 2 3 4; do (while [[ ! -e enough ]]; do curl -sS -o /dev/null -w "%{http_code}\n" --max-time 60 https://also.example/mirror; done >>codes.$i 2>&1; touch done.$i) & done) >/dev/null 2>&1'
    wait_until grep -q 200 codes.1
    local i
    for i in 1 2 3; do
        works control secret remove own
        wait_until tail_is 502
        as_user "$SBX_PROGRAM" secret add own <<<"$([[ $i == 2 ]] && echo "$VALUE" || echo "$OTHER")" >/dev/null
        works control reload
        wait_until tail_is 200
    done
    log_mark
    fetch https://also.example/mirror
    seen values "|Bearer $OTHER|"
    unseen values "|Bearer $VALUE|"
    touch enough
    for i in 1 2 3 4; do wait_until test -e "done.$i"; done
    run sort -u codes.1 codes.2 codes.3 codes.4
    [[ $output == $'200\n502' ]] || report "nothing else should happen"
}

# ---- Reports

@test "digest groups refused requests by entry and proposes those that no entry permits; policy draft writes them" {
    works control allow 'GET good.example/private/a'
    fetch https://good.example/private/b
    fetch https://good.example/private/b
    fetch "-X DELETE https://good.example/private/a"
    fetch "-X DELETE https://good.example/private/c"
    works control digest last
    [[ $output == *"request GET good.example/private/b, 2 times"*"to allow it: agent-sandbox allow 'GET good.example/private/b'"* ]] || report "should be proposed"
    [[ $output == *"request DELETE good.example/**, 2 times"* && $output != *"allow 'DELETE"* ]] || report "should be grouped, and not proposed"
    works control policy draft last
    [[ $output == *'[requests]'*'"GET good.example/private/b"'* && $output != *'"DELETE'* ]] || report "should be written"
    # What it writes is read: the request is permitted then.
    control policy draft last >"$BATS_TEST_TMPDIR/draft.toml"
    sed '/^\[requests\]/,$!d' "$BATS_TEST_TMPDIR/draft.toml" >"$BATS_TEST_TMPDIR/requests.toml"
    install -m 0644 "$BATS_TEST_TMPDIR/requests.toml" "$SBX_HOME/.config/agent-sandbox/config.toml"
    run control why request GET good.example/private/b
    [[ $output == *permitted* ]] || report "should be permitted by the draft: $(<"$BATS_TEST_TMPDIR/requests.toml")"
}

@test "inspect, monitor and secret list show requests and uses of credentials" {
    works control secret list
    [[ $output == *tracker*"not used in a kept record"* ]] || report "should not be used yet"
    fetch https://good.example/private/a
    fetch "-X DELETE https://good.example/private/a"
    works control inspect
    [[ $output == *"1 permitted, 1 refused"*"credential tracker"*"1 request, the last"* ]] || report "should be shown"
    works control inspect --json
    [[ $output == *'"requests"'*'"permitted": 1'* && $output == *'"name": "tracker"'* ]] || report "should be shown as data"
    works control monitor --once
    [[ $output == *"1 permitted, 1 refused"*"credential tracker: 1 request"* ]] || report "should be shown"
    works control secret list
    [[ $output == *tracker*"last used 20"* ]] || report "should name the time"
    works control secret list --json
    [[ $output == *'"last_use": "20'* && $output != *"$VALUE"* ]] || report "should name the time"
}

# ---- Bounds

# 300 connections, each with a body of 250,000 bytes that a rule must read whole and that does not end.
MANY='
import socket, ssl
context = ssl.create_default_context()
head = b"POST /graphql HTTP/1.1\r\nHost: good.example\r\nContent-Type: application/json\r\nContent-Length: 260000\r\n\r\n"
held = []
for i in range(300):
    one = context.wrap_socket(socket.create_connection(("good.example", 443)), server_hostname="good.example")
    one.settimeout(60)
    held.append(one)
    try:
        one.sendall(head + b" " * 250000)
    except OSError:
        pass
# 64 MiB are 268 of them.
print(held[-1].recv(4096).decode())
for one in held:
    one.close()
one = context.wrap_socket(socket.create_connection(("good.example", 443)), server_hostname="good.example")
body = b"{\"query\":\"{ a }\"}"
one.settimeout(60)
one.sendall(head.replace(b"260000", b"%d" % len(body)) + body)
print("then", one.recv(4096).decode())
'

@test "bodies that rules must read whole are bounded together, and give their room back" {
    define_tracker 'allow = ["graphql query good.example/graphql"]'
    works control reload
    printf '%s' "$MANY" >many.py
    tell_jail "python3 many.py"
    [[ $output == *"HTTP/1.1 413"*"x-agent-sandbox: body_too_large"*"64 MiB"*then* ]] || report "should be refused for the bound"
    [[ ${output#*then} != *"body_too_large"* ]] || report "the room should be given back"
    local memory
    memory=$(memory_of "$GATEWAY")
    ((memory < 200000)) || report "the gateway holds $memory KiB"
}
