#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The first use: a key in the environment and nothing else, no settings of the agent and none of ours; the model is at the agent's
# built-in address. Where the network reaches only named hosts, the profile names it.

load helper
setup() {
    start_agent_test
    MODEL=$SBX_MODELS
    forget_requests
    rm -rf ~/.codex ~/.gemini ~/.config ~/.pi
    TRUST=(NODE_EXTRA_CA_CERTS="$SBX_AUTHORITY" SSL_CERT_FILE="$SBX_AUTHORITY")
    JAIL=(--network proxied --env NODE_EXTRA_CA_CERTS --env SSL_CERT_FILE)
}
teardown() { end_test; }

works_with() {
    ENVIRONMENT=("${TRUST[@]}" "$@")
    outside
    says "This was task 1."
    find "$HOME" -mindepth 1 -maxdepth 1 ! -name project -exec rm -rf {} +
    inside
    says "This was task 1."
    says "hello from a tool"
    says_not "evil.example here"
}
TASK=$'Do these steps.\n@run echo hello from a tool\n@run curl -sS --max-time 30 http://evil.example/'

@test "claude: a key is all it needs" {
    ask claude "$TASK"
    works_with ANTHROPIC_API_KEY=sk-ant-of-a-test
}
@test "codex: a key is all it needs" {
    ask codex "$TASK"
    works_with CODEX_API_KEY=sk-of-a-test
}
@test "gemini: a key is all it needs" {
    ask gemini "$TASK"
    works_with GEMINI_API_KEY=key-of-a-test
}
@test "opencode: a key is all it needs" {
    ask opencode "$TASK"
    COMMAND+=(--model anthropic/claude-sonnet-4-5)
    works_with ANTHROPIC_API_KEY=sk-ant-of-a-test
}
@test "pi: a key is all it needs" {
    ask pi "$TASK"
    COMMAND=(pi --model anthropic/claude-sonnet-4-5 "${COMMAND[@]:1}")
    works_with ANTHROPIC_API_KEY=sk-ant-of-a-test
}
