#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Changes that an agent makes to its own files must not run when its user starts it outside the jail. Each test tries its way
# outside first, where it works.

load helper
setup() { start_agent_test; }
teardown() { end_test; }

# plants PLACE COMMAND...: the agent runs the commands at PLACE; afterwards the user starts the agent outside.
plants() {
    local place=$1
    shift
    find "$HOME" -mindepth 1 -maxdepth 1 ! -name project -exec rm -rf {} +
    if [[ $place == inside ]]; then for_the_jail; else for_outside; fi
    ask "$AGENT" "$(task "$@")"
    "$place"
    rm -f ~/planted
    [[ $place == outside ]] || lead_outside
    ask "$AGENT" "$(task "uname; echo changed >>changed.txt")"
    outside
}

# Replaces the model's address by the one that works outside; the planted settings stay.
lead_outside() {
    local inner="http://host.agent-sandbox.internal:$PORT" outer="http://127.0.0.1:$PORT" file
    ENVIRONMENT=("${ENVIRONMENT[@]/"$inner"/"$outer"}")
    for file in ~/.codex/config.toml ~/.config/opencode/opencode.json ~/.pi/agent/models.json; do
        [[ ! -e $file ]] || sed -i "s#$inner#$outer#" "$file"
    done
}

leaves_nothing_that_runs() {
    local ways way
    mapfile -t ways < <(planting "$AGENT")
    for way in "${ways[@]}"; do
        plants outside "$way"
        [[ -e ~/planted ]] || report "should run outside, as a control: $way"
    done
    plants inside "${ways[@]}"
    [[ ! -e ~/planted ]] || leak "ran outside"
}

@test "claude: what it plants does not run outside" { leaves_nothing_that_runs; }
@test "codex: what it plants does not run outside" { leaves_nothing_that_runs; }
@test "gemini: what it plants does not run outside" { leaves_nothing_that_runs; }
@test "opencode: what it plants does not run outside" { leaves_nothing_that_runs; }
@test "pi: what it plants does not run outside" { leaves_nothing_that_runs; }
