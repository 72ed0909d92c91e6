// SPDX-License-Identifier: MIT
// The system calls that the jail refuses, as a table: one row, one reason, one errno. The filter programs are
// made from it at build time (generate/), and `why syscall` reads it. A call that is not in the table is
// allowed; calls of another architecture kill the process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/field_list.h"

namespace seccomp {

// Rows that a user may lift, each by a setting isolation.allow_… (setting_of).
enum class Switch : uint8_t { never, nested_namespaces, new_namespaces, trace, perf, keyrings };
inline constexpr unsigned kProgramCount = 32;  // one for each combination

struct Switches {
    bool allow_nested_namespaces = false;
    bool allow_ptrace = true;
    bool allow_perf = false;
    bool allow_keyrings = false;
    // A listener refuses new namespaces in place of this filter (doorman::AnsweredCalls::refuses_namespaces).
    // Only the process that has installed the filter with that listener may set it.
    bool leaves_namespaces_to_listener = false;

    // The index of the filter program.
    unsigned index() const {
        return unsigned{allow_nested_namespaces} | unsigned{allow_ptrace} << 1 | unsigned{allow_perf} << 2 |
               unsigned{allow_keyrings} << 3 | unsigned{leaves_namespaces_to_listener} << 4;
    }
    static Switches from_index(unsigned index) {
        return {(index & 1) != 0, (index & 2) != 0, (index & 4) != 0, (index & 8) != 0, (index & 16) != 0};
    }
    bool lifts(Switch which) const;
};

// "isolation.allow_ptrace"; empty for rows that no setting lifts.
std::string_view setting_of(Switch which);

// A condition on one argument: (argument & mask) == value, argument > value, or argument != value. All
// conditions of a row must hold.
struct Condition {
    enum class Kind : uint8_t { none, masked_equal, greater, not_equal };
    Kind kind = Kind::none;
    uint8_t argument = 0;
    uint64_t mask = 0;
    uint64_t value = 0;
};

struct Row {
    std::string_view name;
    int number;  // of calls newer than libseccomp, equal on every architecture; 0: by name
    int error;   // 0: the call is skipped and reports success
    Switch lifted_by;
    std::string_view reason;
    std::string_view when;  // for people; empty: always
    std::vector<Condition> conditions;
};

// All rows; a call may have several rows with different conditions.
const std::vector<Row>& rows();

// The rows about one call, by name.
std::vector<const Row*> rows_for(std::string_view name);

std::string_view error_name(int error);

}  // namespace seccomp

// Without leaves_namespaces_to_listener, which the stage sets.
template <>
inline constexpr auto base::kFields<seccomp::Switches> =
    std::tuple(&seccomp::Switches::allow_nested_namespaces, &seccomp::Switches::allow_ptrace,
               &seccomp::Switches::allow_perf, &seccomp::Switches::allow_keyrings);
