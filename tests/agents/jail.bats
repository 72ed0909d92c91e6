#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each agent in the jail, started as its user would: it works in the project, keeps its state and its conversations, and gets nothing
# that is not its own. Outside, the same words do all of it (outside.bats).

load helper
setup() { start_agent_test; }
teardown() { end_test; }

works_and_is_kept_in() {
    for_the_jail
    ask "$AGENT" "$(task "cat ~/.ssh/id_ed25519" "echo made >made.txt" "git add made.txt && git commit -q -m made" \
        "curl -sS --max-time 10 http://evil.example/ || echo fetched nothing" "curl -sS --max-time 10 http://good.example/")"
    inside
    says_not "$SECRET"
    says "id_ed25519: No such file or directory"
    says_not "evil.example here"
    says "good.example here"
    prints made cat made.txt
    prints made git log -1 --format=%s
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
    # The user goes on outside.
    for_outside
    resume "$AGENT" "$(task "echo the third time")"
    outside
    says "This was task 3."
}

sees_no_other() {
    local other commands=()
    for_the_jail
    for other in "${AGENTS[@]}"; do
        [[ $other != "$AGENT" ]] || continue
        mkdir -p ~/"${STATE[$other]}"
        echo "a conversation with $other" >~/"${STATE[$other]}/conversation"
        prints "a conversation with $other" cat ~/"${STATE[$other]}/conversation"
        commands+=("cat ~/${STATE[$other]}/conversation")
    done
    ask "$AGENT" "$(task "${commands[@]}")"
    inside
    says "No such file or directory"
    says_not "a conversation with"
    [[ $(grep -o "No such file or directory" <<<"$output" | wc -l) -ge 4 ]] || report "all four should be hidden"
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

# No instruction file before, none afterwards, and the text reaches the model all the same.
knows_it_on_first_use() {
    for_the_jail
    ask "$AGENT" "$(task "echo hello")"
    inside
    model_got "$NOTICE"
    [[ ! -e ~/${INSTRUCTIONS[$AGENT]} ]]
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

@test "claude: the state of the other agents is not there" { sees_no_other; }
@test "codex: the state of the other agents is not there" { sees_no_other; }
@test "gemini: the state of the other agents is not there" { sees_no_other; }
@test "opencode: the state of the other agents is not there" { sees_no_other; }
@test "pi: the state of the other agents is not there" { sees_no_other; }

@test "claude: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "codex: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "gemini: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "opencode: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }
@test "pi: the user's instructions and the notice reach the model, the file stays as it was" { knows_where_it_is; }

@test "claude: without instructions of the user's the notice comes alone, and no file is left" { knows_it_on_first_use; }
@test "codex: without instructions of the user's the notice comes alone, and no file is left" { knows_it_on_first_use; }
@test "gemini: without instructions of the user's the notice comes alone, and no file is left" { knows_it_on_first_use; }
@test "opencode: without instructions of the user's the notice comes alone, and no file is left" { knows_it_on_first_use; }
@test "pi: without instructions of the user's the notice comes alone, and no file is left" { knows_it_on_first_use; }
