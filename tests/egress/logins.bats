#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Log-ins that stay outside (--login outside). The hosts give tokens as those of the agents do: a refresh ends both old tokens. `claude`
# and `codex` are small programs that read the log-in file, ask the model and refresh, as the agents do.

load helper
load brokered

# Part of every real token, and of no placeholder. Xor 0x55 for canary.py.
CANARY=c4nary-c4nary-c4nary-c4nary
MASKED_CANARY=$(python3 -c 'import sys; print(bytes(byte ^ 0x55 for byte in sys.argv[1].encode()).hex())' "$CANARY")

setup() {
    start_egress_test
    JAIL=(--network proxied --allow-host @anthropic --allow-host @openai --login outside --agent claude)
    local kind
    for kind in platform.claude.com auth.openai.com; do outside curl -sS --max-time 100 -X POST "https://$kind/reset"; done
    user_home_file .claude/.credentials.json 0640 <<<"{\"claudeAiOauth\": {\"accessToken\": \"$CANARY-claude-access-0\",
        \"refreshToken\": \"$CANARY-claude-refresh-0\", \"expiresAt\": 1000, \"scopes\": [\"user:inference\"], \"ratio\": 1.5},
        \"other\": {\"kept\": \"yes\"}}"
    mkdir -p "$SBX_HOME/.claude/projects"
    echo earlier >"$SBX_HOME/.claude/projects/history"
    install -m 0755 login_agent.py claude
    install -m 0755 login_agent.py codex
    chown -R "$SBX_USER" "$SBX_HOME/.claude"
    log_mark
}
teardown() { end_egress_test; }

# user_home_file PATH MODE: from standard input.
user_home_file() {
    install -d -o "$SBX_USER" "$SBX_HOME/${1%/*}"
    cat >"$SBX_HOME/$1"
    chmod "$2" "$SBX_HOME/$1"
    chown "$SBX_USER" "$SBX_HOME/$1"
}

agent() { brokered "$PROJECT/claude" "$@"; }
own_file() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$SBX_HOME/${2:-.claude/.credentials.json}" "$1"; }
count() { outside curl -sS --max-time 100 "https://${1:-platform.claude.com}/count"; }

codex_file() {
    local access id
    read -r access id < <(python3 - <<-'END'
	import base64, json
	part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
	claims = {"exp": 4000000000, "https://api.openai.com/auth": {"chatgpt_account_id": "account-1"}}
	print(*(f"{part({'alg': 'RS256'})}.{part(claims)}.{'c4nary-' * 8}{name}-0" for name in ("access", "id")))
	END
    )
    user_home_file "${1:-.codex}/auth.json" 0600 <<<"{\"OPENAI_API_KEY\": null, \"auth_mode\": \"chatgpt\", \"tokens\": {\"id_token\": \"$id\",
        \"access_token\": \"$access\", \"refresh_token\": \"$CANARY-codex-refresh-0\", \"account_id\": \"0123456789abcdef0123456789\"},
        \"last_refresh\": \"2026-01-01T00:00:00.000Z\"}"
}

@test "the log-in file inside has placeholders, and requests arrive with the real token" {
    says "an answer of the model" agent ask
    seen values "api.anthropic.com|GET /v1/messages HTTP/1.1|200|Bearer $CANARY-claude-access-0"
    works agent show
    [[ $output == *'"accessToken": "sk-ant-oat01-'* && $output == *'"refreshToken": "sk-ant-ort01-'* && $output == *'"expiresAt": 1000'* ]] ||
        report "should have placeholders of the form of the tokens"
    [[ $output != *c4nary* ]] || report "should have no token"
    # The control: with the log-in inside the agent has the file itself.
    JAIL=("${JAIL[@]/outside/inside}")
    says "$CANARY-claude-access-0" agent show
}

@test "a log-in that has ended is refreshed from inside, and the user's own file gets the new tokens" {
    says refreshed agent refresh
    [[ $(own_file 'd["claudeAiOauth"]["accessToken"]') == "$CANARY-claude-access-1" ]]
    [[ $(own_file 'd["claudeAiOauth"]["refreshToken"]') == "$CANARY-claude-refresh-1" ]]
    [[ $(own_file 'd["claudeAiOauth"]["expiresAt"] > 10**12') == True ]]
    [[ $(own_file 'd["claudeAiOauth"]["scopes"]') == "['user:inference', 'user:profile']" ]]
    [[ $(own_file '(d["claudeAiOauth"]["ratio"], d["other"]["kept"])') == "(1.5, 'yes')" ]] || report "other fields should stay"
    [[ $(stat -c '%a %U' "$SBX_HOME/.claude/.credentials.json") == "640 $SBX_USER" ]] || report "mode and owner should stay"
    [[ ! -e $SBX_HOME/.claude.lock ]] || report "the lock should be gone"
    # It goes on: ask, refresh and ask in one session; then outside, with the user's file.
    says "an answer of the model" agent ask refresh ask
    says "an answer of the model" outside "$PROJECT/claude" ask
    [[ $(own_file 'd["claudeAiOauth"]["accessToken"]') == "$CANARY-claude-access-2" ]]
}

@test "three sessions refresh at once, and the log-in is still valid" {
    local turn
    for turn in 1 2 3; do
        agent refresh >"$BATS_TEST_TMPDIR/$turn" 2>&1 &
        CHILDREN+=($!)
    done
    for turn in "${CHILDREN[@]}"; do wait "$turn"; done
    CHILDREN=()
    says '"refreshes": 3' count
    says "an answer of the model" agent ask
    says "an answer of the model" outside "$PROJECT/claude" ask
}

@test "no byte that the jail can read holds a token, before and after a refresh" {
    works brokered python3 canary.py "$MASKED_CANARY" plant /tmp
    [[ $output == *"the search finds"* ]] || report "should find planted values"
    works brokered "$PROJECT/claude" ask refresh ask show canary "$PROJECT/canary.py" "$MASKED_CANARY"
    [[ $output == *searched* && $output != *FOUND* && $output != *c4nary* ]] || report "should find nothing"
    # Programs outside replace the file while the jail runs: its directory is not the user's.
    start_brokered_jail
    works as_user bash -c 'cd ~/.claude && cp .credentials.json new && mv new .credentials.json && echo "$1" >planted' sh "$CANARY"
    tell_jail "python3 canary.py $MASKED_CANARY jail"
    [[ $output == *searched* && $output != *FOUND* ]] || report "should find nothing"
    tell_jail 'cat ~/.claude/projects/history; echo later >>~/.claude/projects/history'
    [[ $output == *earlier* && $(cat "$SBX_HOME/.claude/projects/history") == *later* ]] || report "directories should be shared"
}

@test "a log-in from inside is refused while there is one, and a refresh with the agent's own token too" {
    says foreign_credential agent login
    [[ $(own_file 'd["claudeAiOauth"]["accessToken"]') == "$CANARY-claude-access-0" ]]
    says foreign_credential agent foreign
    says '"refreshes": 0' count
    # The control: outside the same code gives tokens.
    says c4nary outside curl -sS --max-time 100 -d '{"grant_type": "authorization_code", "code": "c0de"}' https://platform.claude.com/v1/oauth/token
}

@test "a first log-in from inside creates the user's file" {
    rm "$SBX_HOME/.claude/.credentials.json"
    works agent login ask show
    [[ $output == *"an answer of the model"* && $output != *c4nary* ]] || report "should work with placeholders"
    [[ $(own_file 'd["claudeAiOauth"]["accessToken"]') == "$CANARY-claude-access-1" ]]
    [[ $(stat -c '%a %U' "$SBX_HOME/.claude/.credentials.json") == "600 $SBX_USER" ]]
    says "an answer of the model" outside "$PROJECT/claude" ask
}

@test "the file is found with CLAUDE_CONFIG_DIR and CODEX_HOME" {
    mv "$SBX_HOME/.claude" "$SBX_HOME/.claude-work"
    AS_USER+=(CLAUDE_CONFIG_DIR="$SBX_HOME/.claude-work")
    says "an answer of the model" agent ask refresh ask
    [[ $(own_file 'd["claudeAiOauth"]["accessToken"]' .claude-work/.credentials.json) == "$CANARY-claude-access-1" ]]
    JAIL+=(--agent codex)
    AS_USER+=(CODEX_HOME="$SBX_HOME/.codex-work")
    codex_file .codex-work
    says "an answer of the model" brokered "$PROJECT/codex" ask refresh ask
    [[ $(own_file 'd["tokens"]["refresh_token"]' .codex-work/auth.json) == "$CANARY-codex-refresh-1" ]]
}

@test "codex's tokens have their claims inside, also after a refresh, and another signature" {
    JAIL+=(--agent codex)
    codex_file
    works brokered "$PROJECT/codex" ask refresh ask show
    [[ $output == *'"exp": 4000000001'*account-1* && $output == *'"account_id": "0123456789abcdef0123456789"'* && $output != *c4nary* ]] ||
        report "should have claims and no signature"
    [[ $(own_file 'd["tokens"]["refresh_token"], d["auth_mode"]' .codex/auth.json) == "('$CANARY-codex-refresh-1', 'chatgpt')" ]]
    [[ $(own_file 'd["tokens"]["id_token"].endswith("id-1")' .codex/auth.json) == True ]]
    [[ $(own_file 'd["last_refresh"] > "2026-01-02"' .codex/auth.json) == True ]]
}

@test "variables with a log-in stay outside, and a link in the place of the file is refused" {
    works as_user ANTHROPIC_API_KEY=sk-ant-secret SSL_CERT_FILE="$SBX_STAGE/authority.crt" "$SBX_PROGRAM" "${JAIL[@]}" -- "$PROJECT/claude" environment
    [[ $output != *sk-ant-secret* && $output == *"ANTHROPIC_API_KEY stays outside"* ]] || report "should stay outside"
    mv "$SBX_HOME/.claude" "$SBX_HOME/elsewhere"
    as_user ln -s elsewhere "$SBX_HOME/.claude"
    run agent show
    [[ $status == 125 && $output == *"behind a symbolic link"* ]] || report "should be refused"
}
