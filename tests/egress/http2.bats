#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# HTTP/2 to hosts of credentials: real clients and servers, gRPC, and what clients of HTTP/2 could do that those of HTTP/1.1 can't.

load helper
load brokered

setup() {
    start_credential_test
    define_tracker_from "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" 'when = "always"'
}
teardown() { end_egress_test; }

# same TEXT COMMAND: outside and inside.
same() {
    says "$1" outside_sh "$2"
    says "$1" brokered_sh "$2"
}

@test "curl, Node and Go use HTTP/2 on both sides, and get the value" {
    says "2 " brokered_sh 'curl -sS --max-time 100 --http2 -w "%{http_version} %{http_code}\n" https://good.example/private'
    says welcome brokered_sh 'curl -sS --max-time 100 https://good.example/private'
    says "1 welcome" brokered node http2_client.js https://good.example/private 1
    wait_until test -e "$SBX_STAGE/bin/go-is-built"
    says welcome brokered "$SBX_STAGE/bin/fetch-go" https://good.example/private
    [[ $(since_mark values | grep -cF "good.example|GET /private HTTP/2.0|200|Bearer $VALUE|") == 4 ]]
    # Control: without the gateway the same requests lack the value.
    says "no value" outside_sh 'curl -sS --max-time 100 --http2 https://good.example/private'
    # A client that wants HTTP/1.1 gets it on both sides.
    says "1.1 200" brokered_sh 'curl -sS --max-time 100 --http1.1 -w "%{http_version} %{http_code}\n" https://good.example/private'
    seen values "good.example|GET /private HTTP/1.1|200|Bearer $VALUE|"
}

@test "a hundred requests at once share a connection, and each has the value" {
    says "100 welcome" brokered node http2_client.js https://good.example/private 100
    says "1000 welcome" brokered node http2_client.js https://good.example/private 1000
    [[ $(since_mark values | grep -cF "|200|Bearer $VALUE|") == 1100 ]]
}

@test "large answers arrive whole over HTTP/2" {
    same 209715200 'curl -sS --http2 --max-time 100 https://good.example/zeros-200 | wc -c'
    same "$(sha256sum <"$INTERNET/www/random" | cut -d" " -f1)" 'curl -sS --http2 --max-time 100 https://good.example/random | sha256sum'
    same taken 'curl -sS --http2 --max-time 100 --data "some text" https://good.example/post'
    same "200 3000000" 'curl -sSI --http2 --max-time 100 -w "%{http_code} %header{content-length}\n" https://good.example/random'
}

@test "a server that speaks HTTP/1.1 alone serves a client of HTTP/2" {
    define_tracker_from "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" 'when = "always"'
    sed -i 's|"good.example"|"good.example:4433"|' "$SBX_HOME/.config/agent-sandbox/config.toml"
    in_world openssl s_server -accept 203.0.113.10:4433 -key "$INTERNET/keys/site.key" -cert "$INTERNET/keys/site.pem" -alpn http/1.1 -WWW \
        </dev/null >"$BATS_TEST_TMPDIR/server" 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until in_world bash -c ': </dev/tcp/203.0.113.10/4433'
    same "a text" 'echo "a text" >/dev/null; curl -sS --http2 --max-time 30 https://good.example:4433/no-such-file; echo "a text"'
    says "2 200" brokered_sh 'curl -sS --http2 --max-time 30 -w "%{http_version} %{http_code}\n" https://good.example:4433/no-such-file'
}

@test "gRPC: unary calls, failures, 60 MB in a stream, streams in both directions, and no value in trailers" {
    sed -i 's|"good.example"|"good.example:50051"|' "$SBX_HOME/.config/agent-sandbox/config.toml"
    in_world python3 -B "$SBX_STAGE/tests/egress/clients/grpc_server.py" "[::]:50051" "$INTERNET/keys/site.key" "$INTERNET/keys/site.pem" \
        </dev/null >"$BATS_TEST_TMPDIR/server" 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until grep -q ready "$BATS_TEST_TMPDIR/server"
    works outside_sh 'TRACKER_TOKEN=other python3 -B grpc_client.py good.example:50051'
    local expected=$output
    [[ $expected == *"unary: echo hello Bearer other OK"* ]] || report "should work outside"
    works brokered python3 -B grpc_client.py good.example:50051
    [[ $output == *"unary: echo hello Bearer *"* ]] || report "should have asterisks in place of the value"
    [[ $(sed -E 's/Bearer [^ ]+/Bearer X/' <<<"$output") == "$(sed -E 's/Bearer [^ ]+/Bearer X/' <<<"$expected")" ]] || report "should be as outside: $expected"
    [[ $output != *"$VALUE"* ]]
    grep -qxF "both Bearer $VALUE" "$BATS_TEST_TMPDIR/server"
}

@test "a connection for one name serves no other: 421" {
    says "the authority: 421" brokered python3 http2_frames.py good.example authority also.example
    says "the authority: 421" brokered python3 http2_frames.py good.example authority git.example
    says "the authority: 421" brokered python3 http2_frames.py good.example authority good.example:444
    unseen values private
    # Control: its own name, and a server that serves any.
    says "the authority: 200" brokered python3 http2_frames.py good.example authority good.example
    says "the authority: 401" outside python3 http2_frames.py good.example authority also.example
}

@test "no frame makes two requests of one" {
    works brokered python3 http2_frames.py good.example smuggle /private/smuggled
    local line
    while read -r line; do
        [[ $line =~ ^[A-Za-z\ -]+:\ (400|reset\ [12])$ ]] || report "should be refused: $line"
    done <<<"$output"
    ((${#lines[@]} == 21)) || report "should have 21 attempts"
    unseen values smuggled
    says "a usual request: 200" brokered python3 http2_frames.py good.example usual
}

@test "rules judge each stream, and a refused one leaves the others alone" {
    define_tracker_from "from_command = [\"cat\", \"$SBX_HOME/keys/tracker\"]" 'when = "always"' '[requests]' \
        'block = ["GET good.example/private/blocked"]'
    says "403" brokered_sh 'curl -sS --http2 --max-time 100 -w "%{http_code}\n" https://good.example/private/blocked'
    works brokered_sh 'curl -sS --http2 --max-time 100 -Z --no-progress-meter -w "%{http_code} " https://good.example/private https://good.example/private/blocked https://good.example/private'
    [[ $(grep -o 200 <<<"$output" | wc -l) == 2 && $output == *403* ]] || report "should refuse one of three"
    unseen values blocked
}
