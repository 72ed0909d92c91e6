# SPDX-License-Identifier: MIT
# Finds a broken promise once, on purpose (tests/runner/runner.bats).
load luck
load ../jail/helper

@test "leaks once" {
    status=0 output=secret
    ! is_first leaking || leak "the content came out"
}
