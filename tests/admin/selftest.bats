#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The self-test under an administrator's settings: it reports what they open as permitted, and does not try what they forbid.

load helper
setup() { start_admin_test; }
teardown() { end_admin_test; }

selftest() { on_stage "$SBX_PROGRAM" selftest "$@"; }

@test "a probe that the administrator permits is reported with the file that permits it" {
    admin_says '[isolation]' 'private_tmp = false'
    works selftest files/temporary-file ipc/temporary-socket
    [[ $output == *"permitted"*"isolation.private_tmp = false, /etc/agent-sandbox/config.toml:2"* ]] || report "not told"
    [[ $output == *"2 permitted by settings"* ]] || report "not counted"
}

@test "a probe for a jail that the administrator forbids is not tried" {
    admin_says '[network]' 'mode = "isolated"'
    works selftest ipc/abstract-socket ipc/abstract-socket-open-network
    [[ $output == *"not tried"*"/etc/agent-sandbox/config.toml:2"* && $output == *"1 held"* ]] || report "not told"
}

@test "selftest finds a project below project.parents, or reports that it needs one" {
    admin_says '[project]' 'parents = ["/var/tmp"]'
    works selftest files/key-by-path
    admin_says '[project]' "parents = [\"$SBX_HOME/project\"]"
    refused 125 "project.parents" selftest files/key-by-path
    works selftest --project "$SBX_HOME/project" files/key-by-path
}

@test "every attempt is held when root runs selftest" {
    works env -i PATH="$PATH" HOME=/root "$SBX_PROGRAM" selftest
}
