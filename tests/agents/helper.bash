# SPDX-License-Identifier: MIT
# Shared by the tests of the agents: our own model server on loopback, and one agent that runs the commands that this model
# requests, outside and in the jail. The name of a test starts with the agent's name.

if [[ -z ${SBX_AGENTS:-} ]]; then
    echo "start these tests with scripts/test-agents" >&2
    exit 1
fi
load ../jail/helper
load agents

# A part of the notice for agents that every wording contains.
NOTICE="agent-sandbox why"
SECRET="a key that nobody else should see"

start_agent_test() {
    start_test
    AGENT=${BATS_TEST_DESCRIPTION%%:*}
    [[ " ${AGENTS[*]} " == *" $AGENT "* ]]
    PATH=$SBX_AGENTS/node/bin:$SBX_AGENTS/$AGENT/bin:$PATH
    make_repository "$PROJECT"
    mkdir ~/.ssh
    echo "$SECRET" >~/.ssh/id_ed25519
    start_model
    JAIL=(--network filtered --block-host evil.example --host-port "$PORT")
    for_outside
}

start_model() {
    MODEL=$BATS_TEST_TMPDIR/model
    python3 -B "$SBX_STAGE/tests/agents/model/server.py" 127.0.0.1 0 "$MODEL" </dev/null >"$BATS_TEST_TMPDIR/model.out" 2>&1 3>&- &
    CHILDREN+=($!)
    wait_until test -e "$MODEL/port" || { cat "$BATS_TEST_TMPDIR/model.out" >&2; return 1; }
    PORT=$(<"$MODEL/port")
}

for_outside() { configure "$AGENT" "http://127.0.0.1:$PORT"; }
for_the_jail() { configure "$AGENT" "http://host.agent-sandbox.internal:$PORT"; }

# task COMMAND...: a prompt that makes the model request these commands.
task() {
    echo "Do these steps."
    printf '@run %s\n' "$@"
}

outside() {
    local command=("${COMMAND[@]}")
    # Codex's own sandbox would make the control fail.
    [[ $AGENT != codex ]] || command=("${command[0]}" --dangerously-bypass-approvals-and-sandbox "${command[@]:1}")
    run env "${ENVIRONMENT[@]}" "${command[@]}" < <(printf %s "$INPUT")
    ((status == 0)) || report "should work outside: ${COMMAND[*]}"
}
inside() {
    run env "${ENVIRONMENT[@]}" "$SBX_PROGRAM" "${JAIL[@]}" -- "${COMMAND[@]}" < <(printf %s "$INPUT")
    ((status == 0)) || report "should work in the jail: ${COMMAND[*]}"
}

# ---- Expectations ------------------------------------------------------------------------------------------------------

says() { [[ $output == *"$1"* ]] || report "should say '$1'"; }
says_not() { [[ $output != *"$1"* ]] || leak "should not say '$1'"; }

# The requests that the model received since forget_requests.
forget_requests() { rm -f "$MODEL"/*.json; }
requests() { cat "$MODEL"/*.json; }
model_got() { requests | grep -qF -- "$1" || { requests | head -c 3000 >&2; report "the model should have got '$1'"; }; }
model_did_not_get() { ! requests | grep -qF -- "$1" || leak "the model should not have got '$1'"; }
