#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The agents as people use them: with settings of their own, behind a shell, and in a subfolder of a repository.

load helper
setup() { start_agent_test; }
teardown() { end_test; }

# Settings that users have, beside those of configure().
personal_settings() {
    case $1 in
        claude)
            mkdir -p ~/.claude/commands ~/.claude/agents
            cat >~/.claude/settings.json <<'JSON'
{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(./secrets/**)"]}, "includeCoAuthoredBy": false, "cleanupPeriodDays": 30,
 "sandbox": {"enabled": true}, "statusLine": {"type": "command", "command": "echo status"}}
JSON
            echo "Review the change." >~/.claude/commands/review.md
            ;;
        codex)
            sed -i '1i sandbox_mode = "workspace-write"\napproval_policy = "never"\nhide_agent_reasoning = true' ~/.codex/config.toml
            printf '[sandbox_workspace_write]\nnetwork_access = true\n[tui]\nnotifications = true\n' >>~/.codex/config.toml
            ;;
        gemini)
            echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "ui": {"theme": "GitHub"}, "general": {"vimMode": false}}' >~/.gemini/settings.json
            ;;
        opencode)
            sed -i '1s/^{/{"theme": "opencode", "autoupdate": false, "permission": {"edit": "allow"}, /' ~/.config/opencode/opencode.json
            ;;
        pi)
            echo '{"defaultProvider": "test", "defaultModel": "test", "theme": "dark"}' >~/.pi/agent/settings.json
            ;;
    esac
    echo "Use tabs in this file: $1." >~/"${INSTRUCTIONS[$1]}"
}

runs_a_tool() {
    says "This was task 1."
    says "hello from a tool"
    says_not "No permissions to create new namespace"
}

with_settings() {
    for_the_jail
    personal_settings "$AGENT"
    ask "$AGENT" "$(task 'echo hello from a tool')"
    inside
    runs_a_tool
    model_got "Use tabs in this file: $AGENT."
}

behind_bash() {
    for_the_jail
    ask "$AGENT" "$(task 'echo hello from a tool')"
    mkdir -p ~/"${STATE[$AGENT]}"
    # Without --agent one line names the option; what the agent does then is its own matter.
    run env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- bash -c '"$@" --version' bash "${COMMAND[0]}" </dev/null
    says "agent-sandbox: $AGENT has no profile in this session"
    JAIL+=(--agent "$AGENT")
    COMMAND=(bash -c '"$@"' bash "${COMMAND[@]}")
    inside
    runs_a_tool
    says_not "has no profile"
}

in_subfolder() {
    for_the_jail
    mkdir -p "$PROJECT/part/deep"
    cd "$PROJECT/part/deep"
    # Codex trusts a folder by its name.
    [[ $AGENT != codex ]] || printf '[projects."%s"]\ntrust_level = "trusted"\n' "$PWD" >>~/.codex/config.toml
    ask "$AGENT" "$(task 'git rev-parse --show-toplevel; echo hello from a tool')"
    ENVIRONMENT+=(AGENT_SANDBOX_PROJECT_ROOT=repository)
    inside
    runs_a_tool
    says "$PROJECT"
}

@test "claude: works with settings that users have" { with_settings; }
@test "codex: works with settings that users have" { with_settings; }
@test "gemini: works with settings that users have" { with_settings; }
@test "opencode: works with settings that users have" { with_settings; }
@test "pi: works with settings that users have" { with_settings; }

@test "claude: works behind bash" { behind_bash; }
@test "codex: works behind bash" { behind_bash; }
@test "gemini: works behind bash" { behind_bash; }
@test "opencode: works behind bash" { behind_bash; }
@test "pi: works behind bash" { behind_bash; }

@test "claude: works in a subfolder of a repository" { in_subfolder; }
@test "codex: works in a subfolder of a repository" { in_subfolder; }
@test "gemini: works in a subfolder of a repository" { in_subfolder; }
@test "opencode: works in a subfolder of a repository" { in_subfolder; }
@test "pi: works in a subfolder of a repository" { in_subfolder; }

@test "codex: its own sandbox is switched off in the user's settings and by -c, and refused as an option" {
    for_the_jail
    sed -i '1i sandbox_mode = "read-only"' ~/.codex/config.toml
    ask codex "$(task 'echo hello from a tool >made; cat made')"
    inside
    runs_a_tool
    ask codex "$(task 'echo hello from a tool >made; cat made')"
    COMMAND=(codex exec -c 'sandbox_mode="workspace-write"' "${COMMAND[@]:2}")
    inside
    runs_a_tool
    for option in "-s workspace-write" --sandbox=read-only --approve-for-me; do
        # shellcheck disable=SC2086 # two words
        run -125 env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- codex exec $option "hello" </dev/null
        says "switches on the sandbox of Codex, which can't start in the jail; leave the option out"
    done
}

@test "codex: behind a shell, an option that switches on its own sandbox is refused, and without it a tool call works" {
    for_the_jail
    local option
    for option in "-s workspace-write" --sandbox=read-only --full-auto; do
        run -77 env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" "${JAIL[@]}" --agent codex -- bash -c "codex exec $option hello; exit \$?" </dev/null
        says "$option switches on the sandbox of Codex, which can't start in the jail; leave the option out"
    done
    ask codex "$(task 'echo hello from a tool >made; cat made')"
    COMMAND=(bash -c '"$@"' bash "${COMMAND[@]}")
    JAIL+=(--agent codex)
    inside
    runs_a_tool
    says_not "agent-sandbox: codex"
}

@test "pi: accepts the placeholder of a missing models.json" {
    for_the_jail
    rm ~/.pi/agent/models.json
    run env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- pi --list-models </dev/null
    says_not "schema"
    ((status == 0)) || report "pi without models.json"
}
