// SPDX-License-Identifier: MIT
// Decides which of the paths that a command uses are closed by the policy, with the texts of `why path`.
// Pure: the host is a tree, and what the command finds at the path is an argument.
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
    std::string rule;        // "hidden /home/ann/.ssh"; empty if no rule applies
    std::string origin;
    std::string reason;
    std::string change;  // the smallest that would open it; empty if none may
};

// Nothing if the policy is not the obstacle: the path is open; it is missing on the host too; the caller
// could not write there outside; the call fails for another reason.
std::optional<ClosedFile> judge(const plan::Plan& plan, const host::Tree& tree, const base::Path& path,
                                seccomp::Use use, Inside inside);

// The use that the flags of open or the mode of access ask for.
seccomp::Use use_of_flags(uint64_t flags, Inside inside);
seccomp::Use use_of_mode(uint64_t mode);

// Places where the jail has its own content, and a path means something else outside.
bool is_own_place(const base::Path& path);
// Of these, the places where a path leads elsewhere for each process that opens it.
bool is_magic(const base::Path& path);

}  // namespace tracer
