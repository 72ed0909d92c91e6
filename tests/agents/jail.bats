#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each agent in the jail, started as its user would: it works in the project, keeps its state and its conversations, and can't read
# anything else. Outside, the same prompts do all of it (outside.bats).

load helper
setup() { start_agent_test; }
teardown() { end_test; }

works_and_is_kept_in() {
    local other others=()
    for other in "${AGENTS[@]}"; do
        [[ $other != "$AGENT" ]] || continue
        mkdir -p ~/"${STATE[$other]}"
        echo "a conversation with $other" >~/"${STATE[$other]}/conversation"
        others+=("${STATE[$other]}/conversation")
    done
    for_the_jail
    ask "$AGENT" "$(task "cat ~/.ssh/id_ed25519" "echo made >made.txt" "git add made.txt && git commit -q -m made" \
        "curl -sS --max-time 30 http://evil.example/ || echo fetched nothing" "curl -sS --max-time 30 http://good.example/" \
        "cd; cat ${others[*]}")"
    inside
    says_not "$SECRET"
    says "id_ed25519: No such file or directory"
    says_not "evil.example here"
    says "fetched nothing"
    says "good.example here"
    says_not "a conversation with"
    for other in "${others[@]}"; do says "$other: No such file or directory"; done
    prints made cat made.txt
    prints made git log -1 --format=%s
    # The instruction file does not exist before or afterwards, and the notice still reaches the model.
    model_got "$NOTICE"
    [[ ! -e ~/${INSTRUCTIONS[$AGENT]} ]]
}

# The second session is another jail.
finds_its_conversation() {
    for_the_jail
    ask "$AGENT" "$(task "echo the first time")"
    inside
    says "This was task 1."
    resume "$AGENT" "$(task "echo the second time")"
    forget_requests
    inside
    says "This was task 2."
    model_got "the first time"
    # The user continues outside.
    for_outside
    resume "$AGENT" "$(task "echo the third time")"
    outside
    says "This was task 3."
}

knows_where_it_is() {
    local file=$HOME/${INSTRUCTIONS[$AGENT]} before
    mkdir -p "${file%/*}"
    echo "Always answer in rhymes." >"$file"
    ask "$AGENT" "$(task "echo hello")"
    outside
    model_got "Always answer in rhymes."
    model_did_not_get "$NOTICE"
    before=$(stat -c '%i %Y %s %a' "$file")
    for_the_jail
    forget_requests
    inside
    model_got "Always answer in rhymes."
    model_got "$NOTICE"
    prints "Always answer in rhymes." cat "$file"
    [[ $(stat -c '%i %Y %s %a' "$file") == "$before" ]]
}

@test "claude: works in the project, finds no secret and no forbidden host" { works_and_is_kept_in; }
@test "codex: works in the project, finds no secret and no forbidden host" { works_and_is_kept_in; }
@test "gemini: works in the project, finds no secret and no forbidden host" { works_and_is_kept_in; }
@test "opencode: works in the project, finds no secret and no forbidden host" { works_and_is_kept_in; }
@test "pi: works in the project, finds no secret and no forbidden host" { works_and_is_kept_in; }

@test "claude: a conversation goes on in the next session, and outside" { finds_its_conversation; }
@test "codex: a conversation goes on in the next session, and outside" { finds_its_conversation; }
@test "gemini: a conversation goes on in the next session, and outside" { finds_its_conversation; }
@test "opencode: a conversation goes on in the next session, and outside" { finds_its_conversation; }
@test "pi: a conversation goes on in the next session, and outside" { finds_its_conversation; }

@test "claude: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "codex: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "gemini: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "opencode: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "pi: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }

@test "opencode: works beside the project's own settings, and can't add more" {
    for_the_jail
    mkdir -p .opencode/command
    echo "Say hello." >.opencode/command/hello.md
    ask opencode "$(task "echo '{}' >.opencode/opencode.jsonc" "mkdir .opencode/plugin/more" "ls -A .opencode")"
    inside
    says "opencode.jsonc: Read-only file system"
    says "plugin/more': Read-only file system"
    prints command ls .opencode
}
