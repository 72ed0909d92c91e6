#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Two agents in the jail and in a real tmux: the agent draws its screen, receives the typed text, calls a tool, and redraws a window
# of another size.

load helper
setup() {
    start_agent_test
    SERVER=sbx-$SBX_TAG-$BATS_TEST_NUMBER
    for_the_jail
    know_the_user
}
teardown() {
    tmux -L "$SERVER" kill-server || true
    end_test
}

screen() { tmux -L "$SERVER" capture-pane -p; }
shows() { screen | grep -qF -- "$1"; }
expect() {
    local deadline=$((SECONDS + 180))
    until "$@"; do
        ((SECONDS < deadline)) || { screen >&2; report "should come to pass: $*"; }
        sleep 0.1
    done
}

# The answers of a user who has already answered the questions of the first start.
know_the_user() {
    [[ $AGENT == claude ]] || return 0
    cat >~/.claude.json <<JSON
{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["sk-ant-of-a-test"], "rejected": []},
 "bypassPermissionsModeAccepted": true, "projects": {"$PROJECT": {"hasTrustDialogAccepted": true}}}
JSON
    mkdir -p ~/.claude
    echo '{"skipDangerousModePermissionPrompt": true}' >~/.claude/settings.json
}

# Some text reaches the right edge of a window this wide, except for a margin.
fills() { screen | LC_ALL=C.UTF-8 grep -qE ".{$(($1 - 5))}[^[:space:]]"; }

works_at_the_keyboard() {
    local line
    printf -v line '%q ' env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- "$@"
    LC_ALL=C.UTF-8 tmux -L "$SERVER" -f /dev/null new-session -d -x 80 -y 24 "$line; read wait" 3>&-
    expect shows "$READY"
    tmux -L "$SERVER" send-keys -l "@run echo typed >typed.txt"
    expect shows "typed.txt"
    tmux -L "$SERVER" send-keys Enter
    expect shows "This was task 1."
    prints typed cat typed.txt
    tmux -L "$SERVER" resize-window -x 101 -y 33
    expect fills 101
}

@test "claude: at the keyboard, in a window that changes its size" {
    READY="bypass permissions"
    works_at_the_keyboard claude --dangerously-skip-permissions
}
@test "codex: at the keyboard, in a window that changes its size" {
    READY="OpenAI Codex"
    works_at_the_keyboard codex
}
