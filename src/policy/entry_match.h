// SPDX-License-Identifier: MIT
// Comparisons of list entries: whether one covers another, and whether a rule closes what another grants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/value.h"

namespace policy {

// Whether one entry of a list covers another: the comparisons that make the administrator's block absolute.

// "AWS_*", "*password*/i": case matters unless the pattern ends in /i.
bool matches_variable_pattern(std::string_view pattern, std::string_view name);

// Whether `outer` matches everything that the network rule `inner` matches: "*" covers all, "*.example.org"
// covers "a.example.org:443", "10.0.0.0/8" covers "10.1.2.3" and "10.1.0.0/16:22". "443" covers "443" and
// also "example.org:443", because it is a port of any host.
bool covers_rule(std::string_view outer, std::string_view inner);

// Entries of the administrator that grant something which another rule of the ceiling closes. One function
// decides this: merge() applies the result, and 'config check --admin' prints it.

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
