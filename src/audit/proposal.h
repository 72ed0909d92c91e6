// SPDX-License-Identifier: MIT
// What a refusal's "change" would set. A record only reports it; whether it may be recommended is judged here
// once more, for all who show it: nothing that opens the home directory, the root, a directory above the
// project or a whole top-level directory, nothing that holds credentials, no pattern of hosts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "config/settings.h"

namespace audit {

struct Surroundings {
    std::optional<base::Path> home;
    std::optional<base::Path> project;
    std::string admin_directory;  // what was written there is not the user's to change
};

struct Proposal {
    const config::Setting* setting = nullptr;
    std::string value;  // of a list: one entry
};

// "--allow-host example.org", "--ro '/a b'", "network.allow = [\"x\"]", "isolation.allow_perf = true". None:
// it is an instruction in words, or no setting may be proposed so.
std::optional<Proposal> proposal_in(std::string_view change);

// Why it is not recommended; empty: it may be.
std::string objection_to(const Proposal& proposal, const Surroundings& surroundings);

// The change as it may be shown: itself, or empty.
std::string vetted_change(const std::string& change, std::string_view origin,
                          const Surroundings& surroundings);

}  // namespace audit
