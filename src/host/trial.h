// SPDX-License-Identifier: MIT
// Questions that can only be answered by trying. For doctor; a launch never comes here.
#pragma once

#include <optional>
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

}  // namespace host
