// SPDX-License-Identifier: MIT
// Entries of the administrator that grant something which another rule of the ceiling closes. One function
// decides this: merge() applies the result, and 'config check --admin' prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/value.h"

namespace policy {

struct PathMeaning;

struct ClosedGrant {
    enum class Outcome {
        no_effect,       // the entry is dropped
        only_read_only,  // the entry moves to the read-only list of its section
    };

    std::string key;
    config::Item item;
    std::string closed_by;  // "network.block in /etc/agent-sandbox/config.toml:4"
    Outcome outcome = Outcome::no_effect;

    // "/etc/…:3: env.allow: 'X' has no effect: env.block in /etc/…:4 closes it"
    std::string describe() const;
};

// Drops the closed entries from `admin`, the administrator's own values, and returns them.
std::vector<ClosedGrant> drop_closed_grants(config::Values& admin, const PathMeaning& paths);

// Whether an entry of devices.deny covers an entry of devices.allow.
bool covers_device(std::string_view denied, std::string_view allowed);

}  // namespace policy
