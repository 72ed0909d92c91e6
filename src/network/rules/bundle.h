// SPDX-License-Identifier: MIT
// Named groups of hosts that one purpose needs: "@github" in network.allow. They lie in
// share/bundles/NAME.list, each host with its reason, and share/network/bundles.list says what each is for. A
// row of a bundle may name another bundle.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "network/rules/rule.h"

namespace network {

// Hosts that were read from the user's own client configuration (.npmrc, pip.conf …). It takes the place of
// the shipped bundle of that name, so that a site's mirror works and no other host is opened.
struct Bundle {
    std::string name;
    std::vector<std::string> entries;
};

// What an entry of a list means: one rule, or all rules of the bundle that it names. Errors name the entry's
// origin and, for an unknown bundle, the nearest known one.
base::Result<std::vector<Rule>> rules_of(const config::Item& item, Side side,
                                         const std::vector<Bundle>& found = {});

}  // namespace network
