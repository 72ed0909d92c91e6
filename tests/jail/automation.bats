#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The contract for programs (docs/automation.md): the JSON of the verbs against docs/schemas, `exec --json`, questions that a program
# follows, and the two examples of the page.

load helper

setup() {
    start_test
    OUT=$BATS_TEST_TMPDIR
}
teardown() { end_test; }

SLEEP='touch ready; exec sleep 1000'

sandbox() { "$SBX_PROGRAM" "$@"; }
# as_json COMMAND...: `exec --json` of it; the object is in `result`, and its status in `status`.
as_json() {
    status=0
    sandbox exec --json -- "$@" >"$OUT/result" 2>"$OUT/errors" || status=$?
    output=$(cat "$OUT/result" "$OUT/errors")
    [[ ! -s $OUT/errors ]] || report "should print one object and nothing else: $*"
}
# has KEY... VALUE
has() { [[ $(member "${@:1:$#-1}" <"$OUT/result") == "${!#}" ]] || report "should have ${*:1:$#-1} = ${!#}"; }
# matches SCHEMA [--lines] FILE. The user's python3 is Debian's, which has the validator.
matches() { works /usr/bin/python3 "$SBX_STAGE/tests/jail/schema.py" "$SBX_STAGE/docs/schemas/$1.json" "${@:2:$#-2}" <"${!#}"; }
# is_json SCHEMA VERB...
is_json() {
    local schema=$1
    shift
    sandbox "$@" >"$OUT/json" || report "$*"
    matches "$schema" "$OUT/json" || { cat "$OUT/json" >&2; return 1; }
}
only_id() { sandbox ps --json | member sessions 0 session; }
# With --cow the file `ready` appears in the layer alone.
start_layer() {
    "$SBX_PROGRAM" --quiet "${JAIL[@]}" -- sh -c 'exec sleep 1000' </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=("$!")
    is_running() { sandbox exec -- true; }
    wait_until is_running 2>/dev/null
}
has_question() { [[ $(sandbox pending) == *"$1"* ]]; }

# ---- exec --json -------------------------------------------------------------------------------------------------------

# bats test_tags=smoke
@test "exec --json prints the status and both streams as one object, and exec alone prints what it did" {
    start_jail "$SLEEP"
    as_json sh -c 'echo out; echo err >&2; exit 4'
    ((status == 4)) || report "the command's status"
    matches exec "$OUT/result"
    has exit_status 4
    has signal None
    has stdout out
    has stderr err
    has stdout_bytes 4
    has session "$(only_id)"
    as_json sh -c 'kill -TERM $$'
    ((status == 143)) || report "128 and the signal"
    has exit_status 143
    has signal 15
    echo through | sandbox exec --json -- cat >"$OUT/result"
    has stdout through
    # The control: without the option the streams are the caller's.
    run -4 --separate-stderr sandbox exec -- sh -c 'echo out; echo err >&2; exit 4'
    [[ $output == out && $stderr == err ]] || report "the streams as they are"
}

@test "exec --json prints no object for a command that does not start" {
    refused 125 "no session is running" sandbox exec --json -- true
    start_jail "$SLEEP"
    refused 127 "was not found in the jail" sandbox exec --json -- no-such-command
    refused 125 "there is no session" sandbox exec --json ffffffff -- true
}

@test "exec --json keeps the first and the last half of a long stream, and marks bytes that are not UTF-8" {
    start_jail "$SLEEP"
    as_json sh -c 'echo first; head -c 3000000 /dev/zero | tr "\0" x; echo; echo last; printf "a\377b" >&2'
    matches exec "$OUT/result"
    has stdout_bytes 3000012
    has stdout_truncated True
    has stdout_replaced False
    has stderr $'a\xef\xbf\xbdb'
    has stderr_bytes 3
    has stderr_replaced True
    [[ $(member stdout <"$OUT/result") == first*"bytes are left out"*last ]] || report "both ends"
    (($(wc -c <"$OUT/result") < 280000)) || report "should be bounded"
    # The control: a stream of the largest size is whole.
    as_json sh -c 'head -c 262144 /dev/zero | tr "\0" x'
    has stdout_truncated False
    (($(member stdout <"$OUT/result" | wc -c) == 262145))
}

@test "exec --json ends with its command, and not with a process that keeps the streams open" {
    start_jail "$SLEEP"
    as_json sh -c 'echo before; sleep 1000 & yes >&2 & exit 3'
    has exit_status 3
    has stdout before
    # With exec --json, a redirected file receives the object alone.
    matches exec "$OUT/result"
}

@test "exec --json reports the end of the session" {
    start_jail 'touch ready; until test -e go; do sleep 0.05; done'
    sandbox exec --json -- sh -c 'echo begun; touch go; exec sleep 1000' >"$OUT/result" 2>"$OUT/errors" || status=$?
    ((status == 137)) || report "should be killed: $(<"$OUT/errors")"
    matches exec "$OUT/result"
    has ended_with_session True
    has stdout begun
}

@test "exec --json names what the session refused meanwhile, and nothing older" {
    JAIL=(--network filtered)
    start_jail "$SLEEP"
    connect() { printf 'exec 3<>/dev/tcp/203.0.113.%s/25' "$1"; }
    as_json bash -c "$(connect 1)"
    has refused 0 what 203.0.113.1:25
    as_json bash -c "$(connect 2); $(connect 2)"
    matches exec "$OUT/result"
    has refused 0 what 203.0.113.2:25
    has refused 0 verdict deny
    [[ $(<"$OUT/result") != *203.0.113.1* ]] || report "should not name what was refused before"
    as_json true
    has refused "[]"
    kill "$SUPERVISOR"
    end_of_jail
    AGENT_SANDBOX_AUDIT_ENABLED=false start_jail "$SLEEP"
    as_json bash -c "$(connect 3)"
    matches exec "$OUT/result"
    has refused None
}

# ---- Schemas -----------------------------------------------------------------------------------------------------------

@test "the plan matches its schema, with every backend and with everything on" {
    local backend
    echo KEY=1 >.env
    make_repository .
    is_json plan plan --json -- true
    is_json plan --dry-run --json -- true
    for backend in native bwrap firejail landlock; do
        in_jail_of() { "$SBX_PROGRAM" --quiet --backend "$backend" true; }
        in_jail_of >/dev/null 2>&1 || continue
        is_json plan plan --json --backend "$backend" -- true
    done
    is_json plan plan --json --read-only --network proxied --allow-host a.example --publish 8080:80 --ro /opt --hide /srv \
        --env A=b --limit memory=1G --limit wall_time=10m --trace-files --observe -- sh -c 'exit "$A"'
    is_json plan plan --json --cow --network isolated --home restricted -- true
}

@test "ps, inspect and log match their schemas while sessions run, and layers after them" {
    is_json ps ps --json
    is_json layers layers --json
    JAIL=(--cow)
    works in_jail sh -c 'echo a >a'
    is_json layers layers --json
    in_jail false || true
    JAIL=(--cow --limit memory=4G --network filtered --publish 8099:80)
    start_layer
    is_json ps ps --json
    sandbox allow one.example
    is_json inspect inspect --json
    "$SBX_PROGRAM" exec -- sleep 1000 </dev/null >/dev/null 2>&1 3>&- &
    CHILDREN+=("$!")
    has_command() { [[ $(sandbox inspect) == *"Commands of exec"* ]]; }
    wait_until has_command
    is_json inspect inspect --json
    # By its name: without one, log shows one of the sessions that began in the last second.
    local id
    id=$(only_id)
    is_recorded() { sandbox log --json "$id" >"$OUT/log" && grep -q "\"kind\":\"$1\"" "$OUT/log"; }
    wait_until is_recorded exec
    matches log --lines "$OUT/log"
    sandbox stop --now "$id"
    wait_until is_recorded end
    matches log --lines "$OUT/log"
}

@test "every kind of the record is in the schema, and a program that was refused namespaces matches it" {
    kinds_of_page() { sed -n '/^| kind | members |/,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$SBX_STAGE/docs/records.md" | grep -o '[a-z]*' | sort; }
    kinds_of_schema() { python3 -c 'import json, sys; print("\n".join(sorted(json.load(sys.stdin)["properties"]["kind"]["enum"])))' <"$SBX_STAGE/docs/schemas/log.json"; }
    works diff <(kinds_of_page) <(kinds_of_schema)
    start_jail "$SLEEP"
    # The control: it is permitted outside.
    works unshare -U true
    fails "not permitted" sandbox exec -- unshare -U true
    is_refused() { sandbox log --json >"$OUT/log" && grep -q '"kind":"namespace"' "$OUT/log"; }
    wait_until is_refused
    matches log --lines "$OUT/log"
    sandbox digest --json | python3 -c 'import json, sys
for entry in json.load(sys.stdin)["entries"]: print(json.dumps(entry))' >"$OUT/refused"
    grep -q '"kind": "namespace"' "$OUT/refused" || report "should be a cause: $(<"$OUT/refused")"
    matches refusal --lines "$OUT/refused"
}

@test "a session takes the control messages of both pages, and no other" {
    local message socket pages=$SBX_STAGE/docs
    messages_of_sessions() { sed -n 's/^| `{"do":"\([a-z]*\)"[^`]*`\(, `\([a-z]*\)`\)\?.*/\1 \3/p' "$pages/sessions.md" | tr ' ' '\n' | grep . | sort; }
    messages_of_automation() { sed -n '/^| message | verb |/,$s/^| \(`[^|]*`\) |.*/\1/p' "$pages/automation.md" | grep -o '[a-z]*' | sort; }
    works diff <(messages_of_sessions) <(messages_of_automation)
    (($(messages_of_sessions | wc -l) >= 11)) || report "too few: $(messages_of_sessions)"
    JAIL=(--network filtered)
    start_jail "$SLEEP"
    socket=$(ls -d "/tmp/agent-sandbox-u$(id -u)"/sessions/*/control)
    # The control: another message is refused for its name. The last one ends the session.
    for message in unknown $(messages_of_sessions | grep -vx stop) stop; do
        works "${ASK[@]}" "$socket" "{\"do\":\"$message\"}"
        if [[ $output == *"does not know how to"* ]]; then [[ $message == unknown ]]; else [[ $message != unknown ]]; fi || report "$message"
    done
    end_of_jail
}

@test "the check of a schema finds a member that is missing, new or of another type" {
    start_jail "$SLEEP"
    as_json true
    matches exec "$OUT/result"
    local change
    for change in 'result.pop("signal")' 'result["exit_status"] = "0"' 'result["new"] = 1' 'result["refused"] = [{"kind": "network"}]'; do
        python3 -c "import json, sys
result = json.load(sys.stdin)
$change
json.dump(result, sys.stdout)" <"$OUT/result" >"$OUT/changed"
        fails "exec.json: " /usr/bin/python3 "$SBX_STAGE/tests/jail/schema.py" "$SBX_STAGE/docs/schemas/exec.json" <"$OUT/changed"
    done
    # And a schema that permits more than the output has is found.
    cp -r "$SBX_STAGE/docs/schemas" "$OUT/schemas"
    sed -i 's/"additionalProperties": false,//' "$OUT/schemas/exec.json"
    fails "permits a document" /usr/bin/python3 "$SBX_STAGE/tests/jail/schema.py" "$OUT/schemas/exec.json" <"$OUT/result"
}

# ---- Questions ---------------------------------------------------------------------------------------------------------

ASKER='touch ready; for port in 81 82; do until test -e go.$port; do sleep 0.05; done; curl -sS --noproxy "*" http://unknown.example:$port/; done; exec sleep 1000'

@test "pending --follow --json prints each question once, and ends with the session" {
    local follower
    JAIL=(--network filtered --ask)
    start_jail "$ASKER"
    "$SBX_PROGRAM" pending --follow --json --session "$(only_id)" >"$OUT/questions" 2>&1 3>&- &
    follower=$!
    CHILDREN+=("$follower")
    touch go.81
    wait_until has_question unknown.example:81
    wait_until test -s "$OUT/questions"
    is_json pending pending --json
    is_json inspect inspect --json
    sandbox deny "$(member id < <(head -n 1 "$OUT/questions"))"
    touch go.82
    two_lines() { (($(wc -l <"$OUT/questions") == 2)); }
    wait_until two_lines
    matches question --lines "$OUT/questions"
    [[ $(sed -n 2p "$OUT/questions" | member port) == 82 ]]
    [[ $(sed -n 2p "$OUT/questions" | member session) == "$(only_id)" ]]
    kill -0 "$follower"
    sandbox stop "$(only_id)"
    wait "$follower"
    two_lines || report "should print each once: $(<"$OUT/questions")"
}

@test "pending --follow ends when its reader has gone, also without a question" {
    local follower reader
    mkfifo "$OUT/pipe"
    start_jail "$SLEEP"
    sleep 1000 <"$OUT/pipe" 3>&- &
    reader=$!
    CHILDREN+=("$reader")
    "$SBX_PROGRAM" pending --follow --json >"$OUT/pipe" 3>&- &
    follower=$!
    CHILDREN+=("$follower")
    # It has opened the pipe.
    is_program() { [[ $(</proc/"$follower"/comm) == agent-sandbox ]]; }
    wait_until is_program
    kill "$reader"
    wait "$follower"
}

# ---- Examples ----------------------------------------------------------------------------------------------------------

EXPECTED='asked about unknown.example:80, answered deny
exit status 0, refused: unknown.example:80'

example() {
    run --separate-stderr env PATH="${SBX_PROGRAM%/*}:$PATH" "$@"
    [[ $status == 0 && $output == "$EXPECTED" ]] || { output+=$stderr; report "$*"; }
    prints "no session is running" sandbox ps
}

@test "the example in Python starts a session, runs a command in it and answers its question" {
    example python3 "$SBX_STAGE/docs/examples/automation.py"
}

@test "the example in TypeScript does the same" {
    # Node 20 runs no TypeScript: the types are removed first.
    works env NODE_PATH=/usr/share/nodejs node -e '
        const typescript = require("typescript"), fs = require("fs");
        const options = { module: "commonjs", target: "es2020", strict: true };
        const result = typescript.transpileModule(fs.readFileSync(process.argv[1], "utf8"), { reportDiagnostics: true, compilerOptions: options });
        if (result.diagnostics.length) throw new Error(JSON.stringify(result.diagnostics.map((one) => one.messageText)));
        fs.writeFileSync(process.argv[2], result.outputText);' "$SBX_STAGE/docs/examples/automation.ts" "$OUT/automation.js"
    example node "$OUT/automation.js"
}
