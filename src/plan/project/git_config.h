// SPDX-License-Identifier: MIT
// The text of a git configuration as a list of assignments. Lenient: it skips what git itself would refuse,
// because only the choice of what to protect depends on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/data.h"

namespace plan {

struct GitSetting {
    std::string key;  // "core.hookspath", "filter.lfs.clean": lower case except the middle part
    std::string value;
};

std::vector<GitSetting> parse_git_config(std::string_view text);

// The row of share/review/git_keys.list that applies to this setting: git would run a program for it, or read
// configuration from another file. Null: the setting is harmless.
const config::DataRow* program_row(const GitSetting& setting);

// A configuration file with the same settings.
std::string git_config_text(const std::vector<GitSetting>& settings);

}  // namespace plan
