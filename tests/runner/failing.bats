# SPDX-License-Identifier: MIT
# Fails always, on purpose (tests/runner/runner.bats).

@test "fails always" {
    echo "the first line of the failure"
    false
}
