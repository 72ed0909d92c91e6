# SPDX-License-Identifier: MIT
# Fails, passes and fails, on purpose (tests/runner/runner.bats).
load luck

@test "unlucky twice" {
    ! is_first one || false
    is_first two || false
}
