// SPDX-License-Identifier: MIT
// Named groups of hosts for one purpose: "@github" in network.allow. They are in share/bundles/NAME.list,
// each host with its reason. share/network/bundles.list contains the purpose of each. A row of a bundle may
// name another bundle.
#pragma once

#include <string>
#include <string_view>
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

// Hosts from a package manager's own configuration, so that @npm, @pip, @conda, @cargo and @apt open the
// site's mirror without guessing. Pure: text in, entries of a bundle out. A line that cannot be parsed is
// skipped: other programs own these files, and a skipped host stays closed.

// "host" or "host:port" of a URL, without user and password. Empty if the URL has no host.
std::string entry_of_url(std::string_view url);

// One reader per client. If a file only adds to the client's default, the result contains the entry "@bundle"
// of that default.
std::vector<std::string> npm_entries(std::string_view npmrc);
std::vector<std::string> pip_entries(std::string_view pip_conf);
std::vector<std::string> conda_entries(std::string_view condarc);
std::vector<std::string> cargo_entries(std::string_view config_toml);
std::vector<std::string> apt_entries(std::string_view sources);  // one-line and deb822 format

}  // namespace network
