// SPDX-License-Identifier: MIT
// From what was refused, or let through while observing, the smallest configuration that would allow it, for
// somebody to read before it is used. What no setting may open stands there as a comment.
#pragma once

#include <string>
#include <vector>

#include "audit/digest.h"
#include "base/json.h"

namespace audit {

struct DraftEntry {
    std::string key;      // "network.allow"; empty: no setting opens it
    std::string value;    // of a list: one entry
    std::string comment;  // how often, since when; or why there is no setting
    std::string kind, what;
};

std::vector<DraftEntry> draft_of(const Digest& digest, const Surroundings& surroundings);

std::string to_toml(const std::vector<DraftEntry>& entries, const std::vector<std::string>& sessions);
base::Json to_json(const std::vector<DraftEntry>& entries);

}  // namespace audit
