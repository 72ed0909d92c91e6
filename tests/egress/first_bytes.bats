#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The first bytes of a client, in every shape that some server accepts: no server sees another name than the one of the connection.
# The byte strings and the servers are in tests/first_bytes.

load helper
setup() {
    start_egress_test
    filtered
    is_connected
    SERVERS=$SBX_STAGE/tests/first_bytes
}
teardown() { end_egress_test; }

is_go_built() { [[ -e $SBX_STAGE/bin/go-is-built ]]; }

# server NAME COMMAND...: runs it in the world, with its output in server.NAME. Each program of the line executes the next one, so
# that the process that the test kills afterwards is the server itself.
server() {
    nsenter --net=/run/netns/world -- setpriv --reuid="$SBX_USER" --regid="$SBX_USER" --clear-groups --inh-caps=-all "${@:2}" \
        </dev/null >"server.$1" 2>&1 3>&- &
    CHILDREN+=($!)
}
is_served() { (: <"/dev/tcp/203.0.113.10/$1") 2>/dev/null; }

make_certificates() {
    mkdir -p certificates && chown "$SBX_USER" certificates
    as_user python3 -B -c "import sys; sys.path.insert(0, '$SERVERS'); import servers; servers.make_certificates('$PWD/certificates')"
}

# bytes EXPRESSION: evaluates it in Python, with the names of cases.py, and prints it in the format of talk.py.
bytes() {
    GOOD=good.example python3 -B -c "import sys; sys.path.insert(0, '$SERVERS'); from cases import *
print(''.join(f'\\\\x{byte:02x}' for byte in $1))"
}

# another_name PORT NAME BYTES: sent outside, they make the server choose NAME; sent inside, they do not.
another_name() {
    says "[[$2]]" outside python3 talk.py --half-close --wait 60 good.example "$1" "$3"
    run in_jail python3 talk.py --half-close --wait 60 good.example "$1" "$3"
    [[ $output != *"[[$2"* ]] || leak "another name is seen inside"
}

@test "no server reads another name from bytes that the gateway permits" {
    wait_until is_go_built
    mkdir compare && cp "$SBX_STAGE/bin/go-server" "$SBX_STAGE"/bin/*.class compare/ && chown -R "$SBX_USER" compare
    works as_user python3 -B "$SERVERS/compare.py" "$SBX_STAGE/bin/judge" "$PWD/compare"
    [[ $output == *"HTTP: "* && $output == *"TLS: "* && $output != *WRONG* ]] || report "the comparison should be whole"
}

@test "TLS: a warning, an odd version or an empty record before the hello (Go, Java)" {
    make_certificates
    wait_until is_go_built
    server go "$SBX_STAGE/bin/go-server" "$PWD/certificates" 0.0.0.0 9081 9444
    wait_until is_served 9444
    another_name 9444 evil.test "$(bytes 'record(b"\x01\x5a", 21) + record(hello(EVIL))')"
    another_name 9444 evil.test "$(bytes 'record(b"\x01\x5a", 21, 0x0100) + record(hello(EVIL))')"
    another_name 9444 evil.test "$(bytes 'record(hello(EVIL), version=0x0200)')"
    says "[[default]]" in_jail python3 talk.py --half-close --wait 60 good.example 9444 "$(bytes 'record(hello(GOOD))')"
    # A `raw:` rule passes everything without reading it.
    JAIL+=(--allow-host raw:good.example:9444)
    says "[[evil.test]]" in_jail python3 talk.py --half-close --wait 60 good.example 9444 "$(bytes 'record(b"\x01\x5a", 21) + record(hello(EVIL))')"
}

@test "TLS: another name in a second hello (OpenSSL)" {
    make_certificates
    server python python3 -B "$SERVERS/servers/server.py" "$PWD/certificates" 0.0.0.0 9082 9445
    wait_until is_served 9445
    local first='record(hello(GOOD, MODERN + SHARES["first"]))' change='record(b"\x01", 20, 0x0303)'
    another_name 9445 evil.test "$(bytes "$first + $change + record(hello(EVIL, MODERN + SHARES['second']), version=0x0303)")"
    says "[[good.example]][[good.example]]" in_jail python3 talk.py --half-close --wait 60 good.example 9445 \
        "$(bytes "$first + $change + record(hello(GOOD, MODERN + SHARES['second']), version=0x0303)")"
    everywhere "TLSv1.3" bash -c 'openssl s_client -connect good.example:9445 -servername good.example </dev/null 2>&1 | grep -om1 TLSv1.3'
}

@test "HTTP: control bytes, NUL and PROXY headers before a request (Netty)" {
    make_certificates
    server java java -Xmx256m -cp "$SBX_STAGE/bin:/usr/share/java/*" Servers "$PWD/certificates" 0.0.0.0 9083 9446 9084 9085 9447
    wait_until is_served 9447
    local request="request(field=b'Host: evil.test')"
    another_name 9084 evil.test "$(bytes "b'\\x01' + $request")"
    another_name 9084 evil.test "$(bytes "b'\\r\\n\\0' + $request")"
    another_name 9084 evil.test "$(bytes "b'\\x05\\x01\\0' + $request")"
    another_name 9085 evil.test "$(bytes "PROXY_1 + $request")"
    another_name 9085 evil.test "$(bytes "PROXY_2 + $request")"
    another_name 9083 evil.test "$(bytes "request(b'{}', version=b'any')")"
    says "[[good.example]]" in_jail python3 talk.py --half-close --wait 60 good.example 9084 "$(bytes "request(field=b'Host: good.example')")"
}

@test "unknown protocols pass where neither HTTP nor TLS is usual, and the refusal names the rule" {
    everywhere "hello" python3 talk.py echo.example 7 --wait 1 "hello"
    # The server there answers and never closes a connection itself, so a reset comes from the gateway.
    says "PING" outside python3 talk.py echo.example 8444 --wait 1 "PING\r\n"
    says "reset after" in_jail python3 talk.py echo.example 8444 --wait 60 "PING\r\n"
    grep -rqF 'raw:echo.example:8444' "$SBX_HOME/.local/state/agent-sandbox/sessions" || report "the record should name the rule"
    works as_user "$SBX_PROGRAM" why host raw:echo.example:5432
    run as_user "$SBX_PROGRAM" why host raw:echo.example:8444
    ((status == 1)) && [[ $output == *'network.allow = ["raw:echo.example:8444"]'* ]] || report "should say what opens it"
}
