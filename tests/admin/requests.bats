#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What an agent asks for (`agent-sandbox request`) under the administrator's ceiling: nothing that the ceiling closes reaches the user.

load helper
setup() {
    start_admin_test
    as_user mkdir -p "$SBX_HOME/closed" "$SBX_HOME/other"
}
teardown() {
    rm -rf "$SBX_HOME/closed" "$SBX_HOME/other"
    end_admin_test
}

# asked QUESTION...: starts a session, asks each "KIND NAME" inside it, and prints the answers and what waits for the user.
asked() {
    # shellcheck disable=SC2016
    on_stage sh -c '
        program=$1
        shift
        rm -f ready
        "$program" --quiet sh -c "touch ready; exec sleep 1000" </dev/null >/dev/null 2>&1 3>&- &
        session=$!
        until test -e ready; do kill -0 "$session" || exit 1; sleep 0.05; done
        for question; do
            "$program" exec -- /run/agent-sandbox/agent-sandbox request ${question% *} "${question#* }" --because x 2>&1
        done
        "$program" pending
        kill -KILL "$session"' sh "$SBX_PROGRAM" "$@"
}

@test "what the administrator closes can't be asked for" {
    local questions=("path $SBX_HOME/closed" "path $SBX_HOME/closed/file" "env CLOSED_NAME" "host blocked.example:443")
    # The control: without the administrator's file each of them reaches the user.
    admin_says '[network]' 'mode = "proxied"'
    works asked "${questions[@]}"
    [[ $(grep -c ": filed as question" <<<"$output") == 4 ]] || report "should file all"
    admin_says '[network]' 'mode = "proxied"' 'block = ["blocked.example"]' '[mounts]' "hidden = [\"$SBX_HOME/closed\"]" '[env]' \
        'block = ["CLOSED_NAME"]'
    works asked "${questions[@]}" "path $SBX_HOME/other"
    [[ $(grep -c ": refused: " <<<"$output") == 4 ]] || report "should refuse four"
    [[ $output == *"path $SBX_HOME/other: filed as question 100001"* ]] || report "should file the other path"
}

@test "an administrator who locks mounts.approved stops questions about paths" {
    admin_says '[network]' 'mode = "isolated"'
    works asked "path $SBX_HOME/other"
    [[ $output == *": filed as question 100001"* ]] || report "the control"
    admin_says 'lock = ["mounts.approved"]' '[network]' 'mode = "isolated"'
    works asked "path $SBX_HOME/other" "host blocked.example:443"
    [[ $(grep -c ": refused: " <<<"$output") == 2 && $output == *"no request waits"* ]] || report "should refuse both"
}
