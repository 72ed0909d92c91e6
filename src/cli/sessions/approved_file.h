// SPDX-License-Identifier: MIT
// The file of the user's settings that `approve` writes: conf.d/approved-DIGEST.toml, one for each project,
// which applies to that project alone. A person may remove lines. With anything else in it, it stays as it
// is.
#pragma once

#include <string>
#include <string_view>

#include "base/path.h"
#include "base/result.h"
#include "config/files/sources.h"

namespace cli {

// An entry of mounts.approved or env.allow.
struct ApprovedEntry {
    std::string_view key;
    std::string text;
};
// Adds it. Returns "FILE:LINE".
base::Result<std::string> add_approved(const config::Places& places, const base::Path& project,
                                       const ApprovedEntry& entry);

}  // namespace cli
