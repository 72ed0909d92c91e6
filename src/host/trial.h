// SPDX-License-Identifier: MIT
// Questions that can only be answered by trying. For doctor, and for a launch that failed: one that works
// never comes here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/facts.h"

namespace host {

struct BwrapVersion {
    int major = 0;
    int minor = 0;
    int patch = 0;
    std::string text() const;
    auto operator<=>(const BwrapVersion&) const = default;
};

// The oldest that has every option the backend uses.
inline constexpr BwrapVersion kOldestBwrap{.major = 0, .minor = 4, .patch = 0};

// "bubblewrap 0.8.0"
base::Result<BwrapVersion> parse_bwrap_version(std::string_view output);

// Runs `bwrap --version` with an empty environment; only for a bwrap that is usable.
base::Result<BwrapVersion> probe_bwrap_version(const TrustedProgram& bwrap);

// Makes a user namespace with a mount namespace of its own in a short-lived child. Nothing where that worked,
// else the reason.
std::optional<std::string> try_user_namespace();

// What this program does to build a jail by itself, as far as no plan is needed for it, in a short-lived
// child. Nothing where that worked, else Facts::native_obstacle.
std::optional<std::string> try_native();

// The backends that another may stand in for where a launch found out what no file says: what tells whether
// it is the machine that can't have it, and the fact that the answer becomes.
struct BackendTrial {
    std::string_view backend;
    std::optional<std::string> (*failure)();
    std::optional<std::string> Facts::*fact;
};
std::span<const BackendTrial> backend_trials();

}  // namespace host
