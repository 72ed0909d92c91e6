#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The data inside a connection must match the name that the connection was opened to. The test's servers serve every name on every
# address, so that each of these tricks works outside.

load helper
setup() {
    start_egress_test
    filtered
    is_connected
}
teardown() { end_egress_test; }

# ---- TLS ---------------------------------------------------------------------------------------------------------------

@test "TLS: a ClientHello with another name than the one that was looked up is refused" {
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example
    only_outside "also.example here" python3 tls.py good.example 443 also.example
    only_outside "evil.example here" curl -sS --max-time 30 --connect-to evil.example:443:good.example:443 https://evil.example/
    says "good.example here" in_jail python3 tls.py good.example 443 good.example
    only_outside "CN = example" bash -c 'openssl s_client -brief -connect good.example:443 -servername evil.example -CAfile authority.crt </dev/null 2>&1 | grep -o "CN = example"'
    everywhere "CN = example" bash -c 'openssl s_client -brief -connect good.example:443 -servername good.example -CAfile authority.crt </dev/null 2>&1 | grep -o "CN = example"'
}

@test "TLS: a ClientHello without a name is refused" {
    only_outside "good.example here" python3 tls.py good.example 443 -
}

@test "TLS: a ClientHello in pieces, in many records, a byte at a time" {
    everywhere "good.example here" python3 tls.py good.example 443 good.example --pieces 100
    everywhere "good.example here" python3 tls.py good.example 443 good.example --pieces 1
    everywhere "good.example here" python3 tls.py good.example 443 good.example --records 50
    everywhere "good.example here" python3 tls.py good.example 443 good.example --records 20 --pieces 11
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example --pieces 1
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example --records 7
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example --records 1 --pieces 5
}

@test "TLS: a large ClientHello passes, an over-long one does not, and neither hides a name" {
    everywhere "good.example here" python3 tls.py good.example 443 good.example --alpn-bytes 8000
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example --alpn-bytes 8000
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example --alpn-bytes 40000
}

@test "TLS: the name is judged on every port, and through CONNECT" {
    only_outside "evil.example here" python3 tls.py good.example 443 evil.example
    says "good.example here" in_jail python3 tls.py good.example 443 good.example --via connect
    run in_jail python3 tls.py good.example 443 evil.example --via connect
    ((status != 0)) && [[ $output != *here* ]] || leak "should be refused through CONNECT"
}

# ---- HTTP --------------------------------------------------------------------------------------------------------------

REQUEST_FOR_EVIL='GET /smuggled HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'

# hides TEXT: no server sees a request for another host that TEXT contains. The control is the plain request, once, below.
hides() {
    log_mark
    run in_jail python3 talk.py good.example 80 --wait 1 "$@"
    unseen web "|evil.example|" || leak "a request for another host came through: $*"
    unseen web "/smuggled" || leak "a smuggled request came through: $*"
}

@test "HTTP: a Host other than the name is refused" {
    log_mark
    works outside python3 talk.py good.example 80 --wait 1 "$REQUEST_FOR_EVIL"
    seen web "|evil.example|"
    seen web "GET /smuggled"
    hides "$REQUEST_FOR_EVIL"
    only_outside "evil.example here" curl -sS --fail --max-time 30 -H "Host: evil.example" http://good.example/
    only_outside "evil.example here" curl -sS --fail --max-time 30 -H "Host: evil.example" http://good.example:8080/
}

@test "HTTP: a second request on the same connection is judged too" {
    local first='GET / HTTP/1.1\r\nHost: good.example\r\n\r\n'
    log_mark
    works outside python3 talk.py good.example 80 --wait 1 "$first$REQUEST_FOR_EVIL"
    seen web "|evil.example|"
    hides "$first$REQUEST_FOR_EVIL"
    hides --then "$REQUEST_FOR_EVIL" "$first"
    hides --then "$REQUEST_FOR_EVIL" 'HEAD / HTTP/1.1\r\nHost: good.example\r\n\r\n'
    hides 'POST /post HTTP/1.1\r\nHost: good.example\r\nContent-Length: 5\r\n\r\nhello'"$REQUEST_FOR_EVIL"
    hides 'POST /post HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'"$REQUEST_FOR_EVIL"
    hides --pieces 1 --pause 0.001 "$first$REQUEST_FOR_EVIL"
    # Correct requests still pass: two requests, a body, a chunked body.
    works in_jail python3 talk.py good.example 80 --wait 1 "$first"'POST /post HTTP/1.1\r\nHost: good.example\r\nContent-Length: 5\r\n\r\nhello'"$first"
    [[ $output == *"good.example here"*taken*"good.example here"* ]] || report "honest requests should all be answered"
}

@test "HTTP: no smuggled request gets through" {
    local evil=$REQUEST_FOR_EVIL head='POST /post HTTP/1.1\r\nHost: good.example\r\n'
    hides "$head"'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 300\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 0\r\nContent-Length: 200\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 200\r\nContent-Length: 0\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 0, 200\r\n\r\n'"$evil"
    hides "$head"'Content-Length: +0\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 0x80\r\n\r\n'"$evil"
    hides "$head"'Content-Length: -1\r\n\r\n'"$evil"
    hides "$head"'Content-Length: 99999999999999999999999\r\n\r\n'"$evil"
    hides "$head"'Content-Length : 300\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding : chunked\r\nContent-Length: 300\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding:\r\n chunked\r\nContent-Length: 300\r\n\r\n0\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding: chunked\r\n\r\n5;x\ny\r\nhello\r\n0\r\n\r\n'"$evil"
    hides "$head"'Transfer-Encoding: chunked\r\n\r\n-1\r\n'"$evil"
    hides "$head"'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n'"$evil"
    hides "$head"'X: y\rContent-Length: 300\r\n\r\n'"$evil"
    hides "$head"'X: y\nContent-Length: 0\r\n\r\n'"$evil"
    hides 'GET / HTTP/1.1\nHost: good.example\n\nGET /smuggled HTTP/1.1\nHost: evil.example\n\n'
    hides 'GET / HTTP/1.0\r\nHost: good.example\r\nConnection: keep-alive\r\n\r\n'"$evil"
    hides 'GET / HTTP/1.1\r\nHost: good.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'"$evil"
    hides 'GET / HTTP/1.1\r\nHost: good.example\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n'"$evil"
    hides 'CONNECT evil.example:80 HTTP/1.1\r\nHost: good.example\r\n\r\n'"$evil"
}

@test "HTTP: a request with two names, no name or a broken name does not get through" {
    hides 'GET /smuggled HTTP/1.1\r\nHost: good.example\r\nHost: evil.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost: evil.example\r\nHost: good.example\r\n\r\n'
    hides 'GET http://evil.example/smuggled HTTP/1.1\r\nHost: good.example\r\n\r\n'
    hides 'GET http://good.example@evil.example/smuggled HTTP/1.1\r\nHost: good.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost: good.example@evil.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost: evil.example\x00.good.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost: good.example\x00\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost:\tevil.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nHost: good.example evil.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\nhost : evil.example\r\nHost: good.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\n Host: evil.example\r\nHost: good.example\r\n\r\n'
    hides 'GET /smuggled HTTP/1.1\r\n\r\n'
    hides 'GET /smuggled HTTP/1.0\r\nHost: evil.example\r\n\r\n'
    hides 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    hides '\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n'
}

@test "HTTP: a head that never ends is refused before it reaches a server" {
    log_mark
    works in_jail_sh 'python3 talk.py good.example 80 --wait 5 "GET /smuggled HTTP/1.1\r\nHost: good.example\r\nX: $(head -c 100000 /dev/zero | tr "\0" x)\r\n\r\n"'
    [[ $output != *"open after"* ]] || report "should end at once"
    unseen web "|400"
    unseen web "/smuggled"
}

@test "HTTP: bodies of every kind go up, and a changed protocol is let through" {
    head -c 3000000 /dev/urandom >body && chown "$SBX_USER" body
    everywhere "taken" curl -sS --max-time 30 --data-binary @body http://good.example/post
    everywhere "taken" curl -sS --max-time 30 -H "Transfer-Encoding: chunked" --data-binary @body http://good.example/post
    everywhere "taken" curl -sS --max-time 30 -H "Expect: 100-continue" --data-binary @body http://good.example/post
    everywhere "taken" curl -sS --http1.1 --max-time 30 --data-binary @body https://good.example/post
    everywhere "spoken freely" python3 talk.py echo.example 9006 --wait 1 --then "spoken freely" \
        'GET / HTTP/1.1\r\nHost: echo.example:9006\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
}

# ---- Protocols where the server sends first, and unknown protocols ------------------------------------------------------

@test "other protocols pass: server first, client first, silent" {
    everywhere "port 9000 is open" python3 talk.py echo.example 9000 --wait 1
    everywhere "hello" python3 talk.py echo.example 7 --wait 1 "hello"
    everywhere "5 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" python3 talk.py echo.example 9001 --half-close "hello"
}
