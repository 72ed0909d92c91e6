// SPDX-License-Identifier: MIT
// The setting that a refusal's "change" would set. A record only reports the change; this part checks again,
// for every printer, whether it may be recommended. It never recommends the home directory, the root, a
// directory above the project, a whole top-level directory, a path with credentials, or a pattern of hosts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "config/settings.h"

namespace audit {

struct UserDirectories {
    std::optional<base::Path> home;
    std::optional<base::Path> project;
    std::string admin_directory;  // the user can't change settings from there
};

struct Proposal {
    const config::Setting* setting = nullptr;
    std::string value;  // one entry, for a list
};

// "--allow-host example.org", "--ro '/a b'", "network.allow = [\"x\"]", "isolation.allow_perf = true".
// Nothing if the change is a sentence, or if the setting may not be proposed.
std::optional<Proposal> proposal_in(std::string_view change);

// Why the proposal is not recommended; empty if it may be.
std::string objection_to(const Proposal& proposal, const UserDirectories& directories);

// The change if it may be shown, else empty.
std::string vetted_change(const std::string& change, std::string_view origin,
                          const UserDirectories& directories);

}  // namespace audit
