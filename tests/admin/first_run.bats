#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The overview for a new user (the program without arguments), where the administrator's files apply.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

overview() { on_stage "$SBX_PROGRAM"; }

@test "with a ceiling that can't be read, the overview names the mistake and what to try" {
    works overview
    [[ $output == *"(writable)"* ]] || report "control: no overview"
    admin_says '[network]' 'mode = "closed"'
    works overview
    [[ $output == *"would not be started here"*"/etc/agent-sandbox/config.toml:2"*"config check"* ]] || report "not said"
    # Wrapped lines.
    output=$(tr -s ' \n' ' ' <<<"$output")
    [[ $output == *"tell the administrator: nothing starts until it is mended"* ]] || report "nobody to tell"
}

@test "the overview reports a ceiling that closes the network" {
    admin_says '[network]' 'mode = "isolated"'
    works overview
    [[ $output == *"isolated: nothing but its own loopback"* ]] || report "not said"
}
