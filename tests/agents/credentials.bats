#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each agent with a key that stays outside: it does its task, the model gets the real key, and the jail has a placeholder. The control
# is day_one.bats, where the same agent has the key itself.

load helper

# The prompt contains the pattern, which does not match itself.
CANARY=c4naryVALUE
PATTERN='c4nary[V]ALUE'

setup() {
    start_agent_test
    MODEL=$SBX_MODELS
    forget_requests
    rm -rf ~/.codex ~/.gemini ~/.config ~/.pi
    JAIL=(--network proxied)
    ENVIRONMENT=()
    MORE=()
    IS_DECRYPTED=yes
}
teardown() { end_test; }

# keeps_outside CREDENTIAL VARIABLE KEY: the launching shell has the key. The jail trusts the authority of the servers here because the
# launching shell does.
keeps_outside() {
    local credential=$1 variable=$2 key=$3
    ENVIRONMENT+=("$variable=$key" SSL_CERT_FILE="$SBX_AUTHORITY")
    JAIL+=(--credential "$credential")
    ask "$AGENT" "$(task 'echo hello from a tool' "printenv $variable >placeholder" \
        "grep -rasl '$PATTERN' /proc/[0-9]*/environ /etc /run /tmp ~ >found; true")"
    COMMAND+=("${MORE[@]}")
    inside
    says "This was task 1."
    says "hello from a tool"
    says_not "$CANARY"
    [[ -e found && ! -s found ]] || report "should be nowhere in the jail: $(<found)"
    [[ $(wc -c <placeholder) -gt 30 && $(<placeholder) != "$key" ]] || report "should be a placeholder: $(<placeholder)"
    model_got_key "$key" "$(<placeholder)"
}

# Each request for an answer of the model carries the real key. With interception no other request carries the placeholder; without it,
# requests that an agent makes beside its base URL do (Claude's look-ups of its settings), and the host gets nothing of worth.
model_got_key() {
    python3 - "$@" "$IS_DECRYPTED" "$MODEL"/*.json <<'END' || { requests | head -c 3000 >&2; report "the model should have got the key"; }
import json, re, sys
key, placeholder, is_decrypted = sys.argv[1:4]
asked = 0
for name in sys.argv[4:]:
    with open(name, encoding="utf-8") as file:
        request = json.load(file)
    fields = {name.lower(): value for name, value in request["headers"].items()}
    sent = [fields[name] for name in ("x-api-key", "authorization", "x-goog-api-key") if name in fields]
    if is_decrypted == "yes":
        assert all(value in (key, "Bearer " + key) for value in sent), (request["path"], sent)
        assert placeholder not in json.dumps(request["headers"]) + request["path"], request["path"]
    if request["method"] == "POST" and re.search("/messages|/responses|/completions|enerateContent", request["path"]):
        assert key in json.dumps(sent) + request["path"], (request["path"], sent)
        asked += 1
assert asked > 0
END
}

@test "claude: a key that stays outside is enough" { keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"; }
@test "codex: a key that stays outside is enough" { keeps_outside openai OPENAI_API_KEY "sk-proj-$CANARY"; }
@test "gemini: a key that stays outside is enough" { keeps_outside gemini GEMINI_API_KEY "AIza$CANARY"; }
@test "opencode: a key that stays outside is enough" {
    ENVIRONMENT=(OPENCODE_DISABLE_MODELS_FETCH=1 npm_config_fetch_retries=0)
    MORE=(--model anthropic/claude-sonnet-4-5)
    keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"
}
@test "pi: a key that stays outside is enough" {
    MORE=(--model anthropic/claude-sonnet-4-5)
    keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"
}

@test "claude: a key that stays outside is enough with CLAUDE_CONFIG_DIR" {
    ENVIRONMENT=(CLAUDE_CONFIG_DIR="$HOME/.claude-work")
    mkdir ~/.claude-work
    keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"
}

# Without interception: the credential's host has a name of the session, which agents with a base URL use.
without_interception() {
    IS_DECRYPTED=no
    mkdir -p ~/.config/agent-sandbox
    printf '[credentials]\nintercept = "off"\n' >~/.config/agent-sandbox/config.toml
}

@test "claude: a key that stays outside is enough without interception" {
    without_interception
    keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"
}
@test "codex: a key that stays outside is enough without interception" {
    without_interception
    keeps_outside openai OPENAI_API_KEY "sk-proj-$CANARY"
}
@test "gemini: a key that stays outside is enough without interception" {
    without_interception
    # With a base URL it starts only if its settings name the way to log in.
    mkdir -p ~/.gemini
    echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >~/.gemini/settings.json
    keeps_outside gemini GEMINI_API_KEY "AIza$CANARY"
}
@test "opencode: a key that stays outside is enough without interception" {
    without_interception
    ENVIRONMENT=(OPENCODE_DISABLE_MODELS_FETCH=1 npm_config_fetch_retries=0)
    MORE=(--model openai/gpt-5)
    keeps_outside openai OPENAI_API_KEY "sk-proj-$CANARY"
}
@test "pi: a key that stays outside is enough without interception" {
    without_interception
    mkdir -p ~/.pi/agent
    echo '{"providers": {"anthropic": {"baseUrl": "http://anthropic.credential.agent-sandbox.internal"}}}' >~/.pi/agent/models.json
    MORE=(--model anthropic/claude-sonnet-4-5)
    keeps_outside anthropic ANTHROPIC_API_KEY "sk-ant-api03-${CANARY}AA"
}
