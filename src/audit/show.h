// SPDX-License-Identifier: MIT
// The record for people: one event as one line, and the smallest configuration that would allow the
// refusals.
#pragma once

#include <string>
#include <vector>

#include "audit/digest.h"
#include "audit/reader.h"
#include "base/encoding/json.h"

namespace audit {

// One event as one line for people: time, kind, verdict, subject and reason.

// Without a line break. All recorded text is made printable.
std::string to_line(const Event& event, bool is_coloured);

// The smallest configuration that would allow the refusals, or the accesses that were only observed. The user
// reads it before using it. A refusal that no setting may open becomes a comment.

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
