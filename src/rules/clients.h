// SPDX-License-Identifier: MIT
// Hosts from a package manager's own configuration, so that @npm, @pip, @conda, @cargo and @apt open the
// site's mirror without guessing. Pure: text in, entries of a bundle out. A line that cannot be parsed is
// skipped: other programs own these files, and a skipped host stays closed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace network {

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
