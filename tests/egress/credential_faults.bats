#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What goes wrong around a credential: sources, networks, the gateway itself. The client and the user get the message, and no value
# appears. The control of each is the same request with what works.

load helper
load brokered

setup() { start_credential_test; }
teardown() { end_egress_test; }

# define_tracker SOURCE [HOST]: for one host, in every request.
define_tracker() {
    user_says '[credential.tracker]' "hosts = [\"${2:-good.example}\"]" 'put = "bearer"' 'when = "always"' 'variable = "TRACKER_TOKEN"' \
        'shape = "tok_{40}"' "$1"
}
# With the program's own messages.
brokered() { as_user SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" "${JAIL[@]}" -- "$@"; }

gives_no_value() {
    run brokered curl -sSi --max-time 100 https://good.example/private
    [[ $output == *"x-agent-sandbox: credential_unavailable"* ]] || report "should be unavailable"
    [[ $output == *"$1"* ]] || report "should state '$1'"
    [[ $output != *c4nary* ]] || report "should not contain a value"
    unseen values private
}

@test "sources that hang, print too much or print two lines give 502 with the reason, and no part of what they print" {
    define_tracker 'from_command = ["sleep", "1000"]'
    gives_no_value "10 s"
    printf '#!/bin/sh\nyes c4naryc4naryc4nary | head -c 1000000\n' >"$SBX_HOME/keys/much"
    printf '#!/bin/sh\nprintf "tok_c4nary\\nc4naryVALUE\\n"\n' >"$SBX_HOME/keys/lines"
    chmod 0755 "$SBX_HOME"/keys/{much,lines}
    define_tracker "from_command = [\"$SBX_HOME/keys/much\"]"
    gives_no_value "16 KiB"
    define_tracker "from_command = [\"$SBX_HOME/keys/lines\"]"
    gives_no_value "line"
    define_tracker 'from_file = "~/keys/tracker"'
    says welcome brokered curl -sS --max-time 100 https://good.example/private
    seen values "|Bearer $VALUE|"
}

@test "a client that does not trust the session's root fails, and the user gets the program, the host and two ways to mend it, once" {
    define_tracker 'from_file = "~/keys/tracker"'
    start_brokered_jail
    # A program with roots of its own. Without --capath curl would use those of /etc too.
    local try='curl -sS --max-time 100 --cacert authority.crt --capath . https://good.example/private'
    tell_jail "$try"
    [[ $status != 0 && $output == *certificate* ]] || report "should not trust the session's root"
    wait_until grep -qF 'let it use SSL_CERT_FILE, or set requests.opaque = ["good.example"]' "$BROKERED_OUT"
    grep -qE 'good\.example: the TLS handshake with curl \(process [0-9]+\) failed' "$BROKERED_OUT" ||
        report "should name the program: $(<"$BROKERED_OUT")"
    wait_until grep -rqsF requests.opaque "$SBX_HOME/.local/state/agent-sandbox/sessions"
    unseen values private
    # Control: outside it works. A program that uses the roots of /etc works inside.
    says "no value" outside_sh "$try"
    log_mark
    tell_jail "$try; curl -sS --max-time 100 https://good.example/private"
    [[ $output == *welcome* ]] || report "should work"
    [[ $(grep -cF requests.opaque "$BROKERED_OUT") == 1 ]] || report "should be reported once: $(<"$BROKERED_OUT")"
}

# Without an alert: some close the connection within the handshake, and some after it.
@test "clients that close the connection when they see the certificate are named, and one that sent a request is not" {
    define_tracker 'from_file = "~/keys/tracker"'
    start_brokered_jail
    tell_jail 'python3 close_early.py within'
    wait_until grep -qE 'handshake with python[0-9.]* \(process [0-9]+\) failed: the client closed the connection when it received' "$BROKERED_OUT"
    cp "$(readlink -f "$(command -v python3)")" ./later
    chmod 0755 later
    tell_jail './later close_early.py after'
    wait_until grep -qE 'later \(process [0-9]+\) closed the connection after the TLS handshake, without a request' "$BROKERED_OUT"
    # Control: after a request of a program, a connection that it closes is not reported.
    cp later trusting
    cp later last
    tell_jail './trusting close_early.py request && ./trusting close_early.py after'
    [[ $status == 0 ]] || report "should get an answer"
    tell_jail './last close_early.py after'
    wait_until grep -qF 'good.example: last (process' "$BROKERED_OUT"
    ! grep -qF trusting "$BROKERED_OUT" || report "should not be reported: $(<"$BROKERED_OUT")"
}

@test "with requests.opaque a program with pinned certificates works, and gets no value" {
    user_says '[credential.tracker]' 'hosts = ["good.example", "git.example"]' 'put = "bearer"' 'when = "always"' 'variable = "TRACKER_TOKEN"' \
        'shape = "tok_{40}"' 'from_file = "~/keys/tracker"' '[requests]' 'opaque = ["good.example"]'
    says "no value" brokered curl -sS --max-time 100 --cacert authority.crt --capath . https://good.example/private
    unseen values "$VALUE"
    works brokered_sh 'openssl s_client -connect good.example:443 -servername good.example </dev/null 2>&1 | openssl x509 -noout -issuer'
    [[ $output == *"Test authority"* ]] || report "should show the host's own certificate"
    # Control: the other host is still read.
    works brokered_sh 'openssl s_client -connect git.example:443 -servername git.example </dev/null 2>&1 | openssl x509 -noout -issuer'
    [[ $output != *"Test authority"* ]] || report "should show the session's certificate"
}

@test "a client that offers neither HTTP/2 nor HTTP/1.1 gets the alert for it, and the user the reason" {
    define_tracker 'from_file = "~/keys/tracker"'
    start_brokered_jail
    tell_jail 'openssl s_client -alpn h3,http/1.0 -connect good.example:443 -servername good.example </dev/null 2>&1'
    [[ $output == *"no application protocol"* ]] || report "should get the alert"
    wait_until grep -qF 'offers neither HTTP/2 nor HTTP/1.1; only these are read here' "$BROKERED_OUT"
    # Control: clients that offer one of them, or both.
    local offer
    for offer in h2 http/1.1 h2,http/1.1 http/1.1,h2; do
        tell_jail "openssl s_client -alpn $offer -connect good.example:443 -servername good.example </dev/null 2>&1"
        [[ $output == *"ALPN protocol: $([[ $offer == *h2* ]] && echo h2 || echo http/1.1)"* ]] || report "should agree on one of $offer"
    done
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
}

@test "a host with IPv6 alone gets the value" {
    define_tracker 'from_file = "~/keys/tracker"' v6only.example
    says welcome brokered curl -sS --max-time 100 https://v6only.example/private
    seen values "v6only.example|GET /private HTTP/2.0|200|Bearer $VALUE|"
}

@test "32 credentials work, and one more is refused" {
    local number lines=() use=()
    for number in {1..33}; do
        printf 'tok_c4naryVALUEc4naryVALUEc4naryVALUE%s\n' "$number" | as_user tee "$SBX_HOME/keys/$number" >/dev/null
        lines+=("[credential.c$number]" "hosts = [\"c$number.many.example\"]" 'put = "bearer"' "variable = \"TOKEN_$number\"" 'shape = "tok_{40}"'
            "from_file = \"~/keys/$number\"")
        use+=(--credential "c$number")
    done
    user_says "${lines[@]}"
    JAIL=(--network filtered "${use[@]:0:64}")
    # shellcheck disable=SC2016 # the jail's
    says "32" brokered bash -c 'for i in {1..32}; do
        name=TOKEN_$i; curl -sS --max-time 100 -H "Authorization: Bearer ${!name}" "https://c$i.many.example/private/$i"; done | grep -c welcome'
    for number in 1 17 32; do seen values "c$number.many.example|GET /private/$number HTTP/2.0|200|Bearer ${VALUE}$number|"; done
    run as_user "$SBX_PROGRAM" --network filtered "${use[@]}" -- true
    ((status == 125)) && [[ $output == *32* ]] || report "should be refused"
}

@test "the gateway is killed under load: the clients end, the user gets a message, and nothing is left" {
    define_tracker 'from_file = "~/keys/tracker"'
    local TRUST=(A=b) AS_USER=("${AS_USER[@]}" SSL_CERT_FILE="$SBX_STAGE/authority.crt")
    start_obedient_jail
    tell_jail 'curl -sS --max-time 100 https://good.example/private'
    [[ $output == *welcome* ]] || report "should work"
    # shellcheck disable=SC2016 # the jail's
    printf '%s\n' 'for i in {1..8}; do curl -sS --max-time 100 https://good.example/zeros >part-$i 2>error-$i & done; wait; echo all ended' >orders
    wait_until test -s part-1 -a -s part-8
    rm -f reply
    kill -KILL "$GATEWAY"
    wait_until test -e reply
    [[ $(<reply.out) == "all ended" ]]
    wait_until grep -qF "the jail has no network from here on" "$BATS_TEST_TMPDIR/jail.out"
    tell_jail 'timeout 40 curl -sS --max-time 30 https://good.example/private'
    ((status != 0 && status != 124)) || report "should have no network"
    # The shell that would answer ends the jail.
    echo 'kill $PPID' >orders
    wait_until is_gone "$SUPERVISOR"
    wait_until no_process_left
    ! grep -raqs "c4nary[V]ALUE" "$SBX_HOME/.local" /run/user "$PROJECT" "$BATS_TEST_TMPDIR/jail.out" || report "should not be on the disk"
}
no_process_left() { ! pgrep -u "$SBX_USER" >/dev/null; }
