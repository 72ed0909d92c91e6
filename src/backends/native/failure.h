// SPDX-License-Identifier: MIT
// What the child of a launch sends when a step fails: which step, on what, and why. Text through a pipe, four
// fields that each end with NUL.
#pragma once

#include <cstdint>

namespace backends::native {

// In the order in which they come.
enum class Phase : uint8_t {
    namespaces,
    control_group,
    user_map,
    privacy,
    network,
    root,
    step,  // of the script: `object` is its target, `other` its source
    old_root,
    last_namespace,
    privileges,
};

struct Failure {
    int number = 0;  // errno; 0: none
    Phase phase = Phase::namespaces;
    const char* object = "";
    const char* other = "";

    explicit operator bool() const { return number != 0; }
};

// Writes it; allocates nothing.
void send_failure(int descriptor, const Failure& failure);

}  // namespace backends::native
