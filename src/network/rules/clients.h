// SPDX-License-Identifier: MIT
// Hosts that a package manager's own configuration names, so that @npm, @pip, @conda, @cargo and @apt open
// the site's mirror and none has to be guessed. Pure: text in, entries of a bundle out. A line that can't be
// read is passed over: these files are not ours to judge, and what is not read stays closed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace network {

// "host" or "host:port" of a URL; empty where there is none. A user and a password are left out.
std::string entry_of_url(std::string_view url);

// One reader for each client. Where a file only adds to the client's default, the entry "@bundle" of that
// default is among the result.
std::vector<std::string> npm_entries(std::string_view npmrc);
std::vector<std::string> pip_entries(std::string_view pip_conf);
std::vector<std::string> conda_entries(std::string_view condarc);
std::vector<std::string> cargo_entries(std::string_view config_toml);
std::vector<std::string> apt_entries(std::string_view sources);  // one-line and deb822 format

}  // namespace network
