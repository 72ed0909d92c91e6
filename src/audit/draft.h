// SPDX-License-Identifier: MIT
// The smallest configuration that would allow the refusals, or the accesses that were only observed. The user
// reads it before using it. A refusal that no setting may open becomes a comment.
#pragma once

#include <string>
#include <vector>

#include "audit/digest.h"
#include "base/encoding/json.h"

namespace audit {

struct DraftEntry {
    std::string key;      // "network.allow"; empty: no setting opens it
    std::string value;    // one entry, for a list
    std::string comment;  // how often, since when; or why no setting opens it
    std::string kind, what;
};

std::vector<DraftEntry> draft_of(const Digest& digest, const UserDirectories& directories);

std::string to_toml(const std::vector<DraftEntry>& entries, const std::vector<std::string>& sessions);
base::Json to_json(const std::vector<DraftEntry>& entries);

}  // namespace audit
