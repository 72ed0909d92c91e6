// SPDX-License-Identifier: MIT
// Named groups of hosts for one purpose: "@github" in network.allow. They are in share/bundles/NAME.list,
// each host with its reason. share/network/bundles.list contains the purpose of each. A row of a bundle may
// name another bundle.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "rules/rule.h"

namespace network {

// Hosts from the user's own client configuration (.npmrc, pip.conf …). Such a bundle replaces the shipped one
// of the same name, so that a site's mirror works and no other host is opened.
struct Bundle {
    std::string name;
    std::vector<std::string> entries;
};

// The rules of a list's entry: one rule, or all rules of the named bundle. Errors contain the entry's origin
// and, for an unknown bundle, the nearest known name.
base::Result<std::vector<Rule>> rules_of(const config::Item& item, Side side,
                                         const std::vector<Bundle>& found = {});

}  // namespace network
