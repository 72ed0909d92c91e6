#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Real clients of `mcp`, outside of the jail: the agents call its tools, and see what the jail refuses.

load helper
setup() {
    start_agent_test
    SERVER=(--quiet --network filtered --block-host evil.example mcp)
}
teardown() { end_test; }

# call TOOL ARGUMENTS
call() { printf '@call %s %s\n' "$1" "$2"; }
steps() {
    echo "Do these steps."
    call "jail__run" '{"command": "echo made >made.txt; cat ~/.ssh/id_ed25519; curl -sS --max-time 30 http://evil.example/"}'
    call "jail__write" '{"path": "written.txt", "content": "by the tool"}'
    call "jail__read" '{"path": "made.txt"}'
    call "jail__why" '{"host": "evil.example"}'
}
sees_the_jail() {
    works "${COMMAND[@]}"
    prints made cat made.txt
    prints "by the tool" cat written.txt
    says_not "$SECRET"
    model_did_not_get "$SECRET"
    model_got 'evil.example'
    model_got 'refused'
    model_got 'network.block closes it'
}

@test "claude: as a client of mcp it runs, reads and writes in the jail, and its model gets what was refused" {
    local servers
    servers=$(python3 -c 'import json, sys; print(json.dumps({"mcpServers": {"jail": {"command": sys.argv[1], "args": sys.argv[2:]}}}))' "$SBX_PROGRAM" "${SERVER[@]}")
    # Without it Claude offers its model only a search for tools.
    COMMAND=(env "${ENVIRONMENT[@]}" ENABLE_TOOL_SEARCH=false claude -p --dangerously-skip-permissions --mcp-config "$servers" --strict-mcp-config -- "$(steps)")
    sees_the_jail
    # The control: its own shell is outside.
    ask claude "$(task "cat ~/.ssh/id_ed25519")"
    outside
    says "$SECRET"
}

@test "codex: as a client of mcp it runs, reads and writes in the jail, and its model gets what was refused" {
    {
        printf '[mcp_servers.jail]\ncommand = "%s"\n' "$SBX_PROGRAM"
        printf 'args = %s\n' "$(python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "${SERVER[@]}")"
    } >>~/.codex/config.toml
    COMMAND=(env "${ENVIRONMENT[@]}" codex exec --dangerously-bypass-approvals-and-sandbox "$(steps)")
    sees_the_jail
}

# ---- The hook of docs/mcp.md: in the jail, beside the agent

install_hook() {
    local entry='[{"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 ~/.claude/refused_hook.py"}]}]'
    mkdir -p ~/.claude
    cp "$SBX_STAGE/docs/examples/refused_hook.py" ~/.claude/
    printf '{"hooks": {"PostToolUse": %s, "PostToolUseFailure": %s}}\n' "$entry" "$entry" >~/.claude/settings.json
}
asks_for_closed_things() {
    for_the_jail
    ask claude "$(task "curl -sS --max-time 30 http://evil.example/ || echo fetched nothing" "cat ~/.ssh/id_ed25519" \
        "echo planted >~/.claude/refused_hook.py" "curl -sS --max-time 30 http://good.example/")"
    forget_requests
    inside
}

@test "claude: with the hook the conversation has what the jail refused, and the change that would allow it" {
    # The control: without the hook the model sees only what the programs print.
    asks_for_closed_things
    says "fetched nothing"
    model_did_not_get "The jail around you refuses"
    install_hook
    asks_for_closed_things
    says "fetched nothing"
    model_got "The jail around you refuses:"
    model_got "evil.example"
    model_got "network.block closes it"
    model_got "id_ed25519: hidden"
    model_got "refused_hook.py: readable"
    # What is permitted is not named, and the agent can't change its hook.
    model_did_not_get "good.example:80: closed"
    cmp ~/.claude/refused_hook.py "$SBX_STAGE/docs/examples/refused_hook.py"
}
