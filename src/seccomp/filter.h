// SPDX-License-Identifier: MIT
// The jail's filter: the finished programs, their installation, and what they return for a call.
#pragma once

#include <linux/filter.h>

#include <span>
#include <string>
#include <string_view>

#include "seccomp/table.h"

namespace seccomp {

// The finished filter programs, made at build time: a launch copies bytes and compiles nothing.

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

// Filters this process and all its future children, permanently; zero or an errno. no_new_privs must be set.
int install(const Switches& switches);

// `why syscall`: what the filter returns for a call, and which setting would change that.

struct FilterResult {
    bool is_allowed = true;  // false: refused whatever the arguments are
    bool is_known = true;    // false: no call of that name existed when this program was built
    std::string summary;     // "allowed", "allowed with exceptions", "refused with EPERM"
    std::string why;
    std::string_view setting;  // that lifts it, or has lifted it; empty where no setting does
};

FilterResult explain(std::string_view name, const Switches& switches);

}  // namespace seccomp
