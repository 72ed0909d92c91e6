// SPDX-License-Identifier: MIT
// Which of the paths that a command asks for the policy closes to it, said as `why path` says it. Pure: the
// host comes as a tree, and what the command sees in that place as one word.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "seccomp/trace.h"

namespace tracer {

// What the command itself finds at a path.
enum class Inside { nothing, something };

struct ClosedFile {
    std::string path;  // as the command named it, made absolute
    bool is_write = false;
    std::string_view cause;  // hidden, readonly, masked
    std::string rule;        // "hidden /home/ann/.ssh"; empty where no rule speaks of it
    std::string origin;
    std::string reason;
    std::string change;  // the smallest that would open it; empty where nothing may
};

// Nothing where the policy is not what stands in the way: the path is open; there is nothing on the host
// either; the caller could not write there outside; the call fails for a reason of its own.
std::optional<ClosedFile> judge(const plan::Plan& plan, const host::Tree& tree, const base::Path& path,
                                seccomp::Use use, Inside inside);

// What open and access want, as the flags or the mode say it.
seccomp::Use use_of_flags(uint64_t flags, Inside inside);
seccomp::Use use_of_mode(uint64_t mode);

// Places where the jail has its own of everything, and names mean another thing outside.
bool is_own_place(const base::Path& path);
// Of these, where a name leads somewhere else for everybody who asks.
bool is_magic(const base::Path& path);

}  // namespace tracer
