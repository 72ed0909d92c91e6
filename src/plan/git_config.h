// SPDX-License-Identifier: MIT
// The text of a git configuration as a list of assignments. Lenient: what git itself would refuse is passed
// over, since nothing is decided here but what to protect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plan {

struct GitSetting {
    std::string key;  // "core.hookspath", "filter.lfs.clean": lower case but for the part in the middle
    std::string value;
};

std::vector<GitSetting> parse_git_config(std::string_view text);

// A configuration that says the same.
std::string git_config_text(const std::vector<GitSetting>& settings);

}  // namespace plan
