# SPDX-License-Identifier: MIT
# Fails once, on purpose (tests/runner/runner.bats).
load luck

@test "unlucky: [a] \$name (with) \"signs\" | and ^more*" {
    ! is_first unlucky
}

@test "lucky" {
    true
}
