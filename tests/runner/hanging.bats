# SPDX-License-Identifier: MIT
# Never ends, on purpose (tests/runner/runner.bats).
BATS_TEST_TIMEOUT=2

@test "never ends" {
    sleep 1000
}
