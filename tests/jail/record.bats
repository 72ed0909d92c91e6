#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The record of a session: written outside, complete, without secrets, read and checked by the verbs log, digest and policy.

load helper
setup() {
    start_test
    STATE=$HOME/.local/state/agent-sandbox
}
teardown() { end_test; }

sandbox() { "$SBX_PROGRAM" "$@"; }

# The newest record's first part.
record() { printf '%s\n' "$STATE"/sessions/*Z-????????????????????????????????.jsonl | tail -n 1; }

chained() {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[audit]\nchain = true\n' >"$HOME/.config/agent-sandbox/config.toml"
}

# put_record LINE...: a record that the test writes, not a session.
put_record() {
    mkdir -p "$STATE/sessions"
    printf '%s\n' "$@" >"$STATE/sessions/20240229T120000Z-0123456789abcdef0123456789abcdef.jsonl"
}
START='{"v":1,"time":"2024-02-29T12:00:00.000Z","kind":"start","session":"0123456789abcdef0123456789abcdef","command":["make"],"directory":"/p","project":"'
denied() { # NAME [CHANGE]
    printf '{"v":1,"time":"2024-02-29T12:00:01.000Z","kind":"connection","verdict":"deny","name":"%s","port":443,"reason":"closed"%s}' "$1" \
        "${2:+,\"change\":\"$2\"}"
}

# bats test_tags=smoke
@test "a session is recorded from its start to its end, for its user alone" {
    works in_jail true
    [[ $(stat -c %a "$(record)") == 600 ]]
    head -n 1 "$(record)" | grep -q '"kind":"start".*"command":\["true"\]'
    tail -n 1 "$(record)" | grep -q '"kind":"end","status":0'
    works sandbox log
    [[ ${lines[0]} == *start*true* && ${lines[-1]} == *"end"*"status 0"* ]] || report "should show the session"
}

@test "the jail can neither read nor write its record" {
    works sh -c 'mkdir -p "$1" && echo x >"$1/x" && rm "$1/x"' sh "$STATE/sessions"
    works in_jail_sh 'ls "$1" 2>/dev/null; echo x >>"$1/$(ls "$1" 2>/dev/null | head -n 1)x" 2>/dev/null; true' "$STATE/sessions"
    [[ -z $(grep -l '^x' "$STATE"/sessions/* || true) ]]
    fails "No such file" in_jail ls "$STATE/sessions"
}

@test "a secret on the command line is not in the record" {
    works in_jail true --token=hunter2 --password hunter2 API_KEY=hunter2 https://me:hunter2@example.org/
    ! grep -r hunter2 "$STATE/sessions" || leak "should not be recorded"
    grep -q '"--token=\*\*\*"' "$(record)"
    works in_jail true https://hunter2@example.org/x 'https://example.org/?sv=1&sig=hunter2' -storepass hunter2 machine h password hunter2 \
        Authorization: Bearer hunter2 PASSWORD%3Dhunter2 --from-literal=k=hunter2 -u me:hunter2 "IDENTIFIED BY 'hunter2'"
    ! grep -r hunter2 "$STATE/sessions" || leak "should not be recorded"
}

@test "log --verify accepts a record as written, and no changed one" {
    chained
    works in_jail true
    works sandbox log --verify
    [[ $output == intact:* ]] || report "should be intact"
    cp "$(record)" "$BATS_TEST_TMPDIR/good"
    sed -i '1s/"true"/"fals"/' "$(record)"
    run -1 sandbox log --verify
    [[ $output == broken:* ]] || report "should be broken by a change"
    sed 1d "$BATS_TEST_TMPDIR/good" >"$(record)"
    run -1 sandbox log --verify
    [[ $output == broken:* ]] || report "should be broken by a removal"
    sed '$d' "$BATS_TEST_TMPDIR/good" >"$(record)"
    run -1 sandbox log --verify
    [[ $output == "unfinished: the session was killed, or the end was cut off"* ]] || report "should be unfinished"
    cp "$BATS_TEST_TMPDIR/good" "$(record)"
    works sandbox log --verify
    [[ $output == *"vouched for by the head alone"*"head of supervisor: "*" lines "* ]] || report "should name the head"
}

@test "log --verify reports the record of a running session as unfinished and intact" {
    chained
    start_jail 'touch ready; until [ -e go ]; do sleep 0.05; done'
    works sandbox log --verify
    [[ $output == "unfinished: the session still runs"* ]] || report "should say that it runs"
    touch go
    end_of_jail
    works sandbox log --verify
    [[ $output == intact:* ]] || report "should be intact at the end"
}

@test "a record that dropped old parts is intact, one with another part missing is broken" {
    chained
    export AGENT_SANDBOX_AUDIT_SIZE=100K
    JAIL=(--trace-commands)
    works in_jail_sh 'i=0; while [ $i -lt 1000 ]; do /bin/echo $i >/dev/null; i=$((i + 1)); done'
    stem=$(record)
    stem=${stem%.jsonl}
    [[ ! -e $stem.3.jsonl ]] || report "should have dropped the third part"
    works sandbox log --verify
    [[ $output == intact:*"parts were dropped"* ]] || report "should be intact"
    next=$(printf '%s\n' "$stem".*.jsonl | sort -V | head -n 1)
    rm "$next"
    run -1 sandbox log --verify
    [[ $output == broken:*"is missing"* ]] || report "should miss the part"
}

@test "refusals of the network and of mail are in the record, the digest and the draft, and the chain verifies" {
    chained
    run in_jail_sh 'getent hosts pastebin.com; sendmail </dev/null'
    works sandbox log --denied
    [[ $output == *lookup*deny*pastebin.com* && $output == *mail*deny*sendmail* ]] || report "should have both"
    works sandbox digest
    [[ $output == *"network pastebin.com"*"--allow-host pastebin.com"* && $output == *"mail sendmail"* ]] || report "should propose"
    works sandbox policy draft
    [[ $output == *'"pastebin.com",'* ]] || report "should draft it"
    works sandbox log --verify
    [[ $output == intact:*"head of gateway: "*"head of supervisor: "* ]] || report "should be intact with both heads"
    line=$(grep -n '"kind":"lookup"' "$(record)" | tail -n 1 | cut -d: -f1)
    sed -i "${line}d" "$(record)"
    run -1 sandbox log --verify
    [[ $output == *"the writer gateway"* ]] || report "should miss the gateway's line"
}

@test "log --follow ends with the session" {
    start_jail 'touch ready; until [ -e go ]; do sleep 0.05; done'
    "$SBX_PROGRAM" log --follow >"$BATS_TEST_TMPDIR/followed" 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until grep -q start "$BATS_TEST_TMPDIR/followed"
    touch go
    end_of_jail
    wait_until grep -q ' end ' "$BATS_TEST_TMPDIR/followed"
    wait "${CHILDREN[-1]}"
}

@test "records are found by the beginning of an id, and read whatever is in them" {
    put_record "$START$PROJECT\"}" garbage "$(denied 'a.example\u001b[2J')" '{"v":9,"kind":"new"}' '{"v":1,"time'
    works sandbox log 0123
    [[ $output == *'a.example\x1b[2J'* ]] || report "should escape it"
    [[ $output == *"2 damaged lines"* && $output == *"1 line of a newer version"* ]] || report "should count what it passed over"
    works sandbox log 0123 --denied --json
    [[ ${lines[0]} == '{"v":1,'*'"kind":"connection"'* ]] || report "should print the line as it is"
    fails "no record of a session" sandbox log ffff
    fails "is not a session" sandbox log 01
}

@test "the digest does not claim that nothing was refused where it can't know it" {
    works touch file
    JAIL=(--read-only)
    fails "Read-only file system" in_jail touch file
    prints $'no refusal was recorded\nrefused access to files was not recorded: the session ran without --trace-files' sandbox digest
    works sandbox digest --json
    [[ $output == *'"files_recorded": false'* ]]
    # Only one record each time: two of one second have no order.
    rm -r "$HOME/.local/state/agent-sandbox/sessions"
    JAIL=(--read-only --trace-files)
    fails "Read-only file system" in_jail touch file
    works sandbox digest
    [[ $output == "file "*"/file (write)"* && $output != *"was not recorded"* ]] || report "should have the file"
    rm -r "$HOME/.local/state/agent-sandbox/sessions"
    works in_jail true
    prints "nothing was refused" sandbox digest
}

@test "the end of a session names the host that was refused last" {
    run "$SBX_PROGRAM" --verbose --network proxied -- sh -c 'for host in a b b; do getent hosts "$host.example"; done; true'
    [[ $output == *"refused: network "*", last b.example; agent-sandbox digest shows all"* ]] || report "should name b.example"
}

@test "the digest groups refusals, proposes changes, and omits what is marked as not needed" {
    put_record "$START$PROJECT\"}" "$(denied a.example '--allow-host a.example')" "$(denied a.example '--allow-host a.example')" \
        "$(denied b.example)"
    works sandbox digest
    [[ ${lines[0]} == *"a.example:443, 2 times"*"--allow-host a.example"* ]] || report "should begin with the most frequent"
    works sandbox digest --not-needed b.example
    works sandbox digest
    [[ $output != *b.example* && ${lines[-2]} == "1 more is marked as not needed" ]] || report "should leave it out"
    works sandbox digest --needed b.example
    works sandbox digest --json
    [[ $output == *b.example* ]] || report "should show it again"
}

@test "config check accepts a draft, and a draft opens neither home nor root" {
    put_record "$START$PROJECT\"}" "$(denied a.example '--allow-host a.example')" "$(denied b.example '--allow-host *')" \
        '{"v":1,"kind":"file","verdict":"deny","path":"/","access":"read","change":"--ro /"}' \
        '{"v":1,"kind":"file","verdict":"deny","path":"'"$HOME"'","access":"write","change":"--rw '"$HOME"'"}' \
        '{"v":1,"kind":"file","verdict":"deny","path":"/var/lib","access":"read","change":"--ro /var/lib"}'
    works sandbox policy draft
    printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/draft.toml"
    works sandbox config check "$BATS_TEST_TMPDIR/draft.toml"
    entries=$(grep -o '^    "[^"]*"' "$BATS_TEST_TMPDIR/draft.toml")
    [[ $entries == $'    "/var/lib"\n    "a.example"' ]] || report "should open these alone: $entries"
}

@test "inside, policy and why answer, and log reports that records are outside" {
    own=/run/agent-sandbox/agent-sandbox
    works in_jail "$own" policy
    [[ $output == *network*files*environment* ]] || report "should show the policy"
    works in_jail "$own" policy --json
    run -1 in_jail "$own" why slurm sbatch --uid
    [[ $output == *slurm-identity* ]] || report "should explain the option"
    run -1 sandbox why slurm --container --json
    [[ $output == *'"subject"'* ]] || report "should explain it outside"
    fails "outside of the jail" in_jail "$own" log
    fails "outside of the jail" in_jail "$own" digest --not-needed x
}

# counted_renames BACKEND: the digest names what editors and mv try, without a trace of files.
counted_renames() {
    JAIL=(--backend "$1")
    wait_until rm -rf "$HOME/.local/state/agent-sandbox/sessions" 2>/dev/null
    echo '{}' >.mcp.json
    echo KEY=1 >.env
    # Control: outside both can be replaced.
    works sh -c 'cp .mcp.json new && mv new .mcp.json && cp .env new && mv new .env'
    run in_jail_sh 'for i in 1 2 3; do echo x >new; mv -f new .mcp.json; done; mv -f new .env; mv -f missing .mcp.json; mv -f new other && mv other new'
    prints "{}" cat .mcp.json
    works "$SBX_PROGRAM" digest
    [[ $output == *"file $PROJECT/.mcp.json (write), 3 times: another file can't take a protected or masked name"* ]] || report "the protected name"
    [[ $output == *"file $PROJECT/.env (write): "*"other refused access to files was not recorded"* ]] || report "the masked name"
    [[ $(grep -c '^file ' <<<"$output") == 2 ]] || report "two names"
    works "$SBX_PROGRAM" digest --json
    prints False python3 -c 'import json, sys; print(json.load(sys.stdin)["files_recorded"])' <<<"$output"
}
@test "renames onto protected and masked names are in the digest without a trace, native" { counted_renames native; }
@test "renames onto protected and masked names are in the digest without a trace, bubblewrap" { counted_renames bwrap; }
