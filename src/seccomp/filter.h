// SPDX-License-Identifier: MIT
// The finished filter programs, made at build time: a launch copies bytes and compiles nothing.
#pragma once

#include <linux/filter.h>

#include <span>

#include "seccomp/table.h"

namespace seccomp {

// An instruction without a jump.
inline sock_filter statement(unsigned code, uint32_t value) {
    return sock_filter{static_cast<uint16_t>(code), 0, 0, value};
}

// For the architecture of this program.
std::span<const sock_filter> filter_for(const Switches& switches);

// The calls in the rows of the table, with their numbers on this architecture.
struct NumberedCall {
    std::string_view name;
    int number;
};
std::span<const NumberedCall> numbered_calls();

// The names of all system calls that existed when the program was built, sorted.
std::span<const std::string_view> known_names();

}  // namespace seccomp
