#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The library of the protocol's authors as a client of `mcp`.

if [[ -z ${SBX_AGENTS:-} ]]; then
    echo "start these tests with scripts/test-agents" >&2
    exit 1
fi
load ../jail/helper
setup() { start_test; }
teardown() { end_test; }

@test "mcp: the protocol's own library lists, calls, cancels and reads progress, and its checks of every result hold" {
    mkdir ~/.ssh
    echo "a key" >~/.ssh/id_ed25519
    export SECRET_FILE=$HOME/.ssh/id_ed25519
    prints "a key" cat "$SECRET_FILE"
    run --separate-stderr "$SBX_AGENTS/mcp-sdk/bin/mcp-sdk" "$SBX_STAGE/tests/agents/mcp_sdk.mjs" \
        "$SBX_AGENTS/mcp-sdk/lib/node_modules/@modelcontextprotocol/sdk" "$SBX_PROGRAM" --quiet mcp
    ((status == 0)) || { output+=$stderr; report "should work"; }
    [[ $output == "run read write why
run hello 3
read ü
why false
cancelled
allow -32602
secret true" ]] || report "should print each step"
    prints ü cat sdk.txt
}
