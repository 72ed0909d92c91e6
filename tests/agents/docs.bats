#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The agent commands that the pages show, as a reader with an account types them: each agent has already asked the questions of its
# first start and reaches its provider's host. tests/docs/run prints a line for each fence.

load helper
setup() { start_test; }
teardown() { end_test; }

@test "docs: every command of the world 'agents' works" {
    local agent path=$PATH
    for agent in node "${AGENTS[@]}"; do path=$SBX_AGENTS/$agent/bin:$path; done
    run env PATH="$(dirname "$SBX_PROGRAM"):$path" LC_ALL=C.UTF-8 DOCS_WORLD=agents DOCS_ROOT="$SBX_STAGE" DOCS_START="$HOME/code/app" \
        DOCS_PREPARE="$SBX_STAGE/tests/agents/account" ANTHROPIC_API_KEY=sk-ant-of-a-test OPENAI_API_KEY=sk-of-a-test CODEX_API_KEY=sk-of-a-test GEMINI_API_KEY=key-of-a-test \
        NODE_EXTRA_CA_CERTS="$SBX_AUTHORITY" SSL_CERT_FILE="$SBX_AUTHORITY" "$SBX_STAGE/tests/docs/run" agents
    sed "s/^/# /" <<<"$output" >&3
    ((status == 0))
}
