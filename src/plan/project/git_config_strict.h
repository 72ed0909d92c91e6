// SPDX-License-Identifier: MIT
// The text of a git configuration, read exactly as git reads it (config.c). git.h has a lenient
// parser.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plan {

struct StrictSetting {
    std::string key;  // lower case except the middle part
    std::optional<std::string> value;
    size_t line = 0;
};

struct StrictConfig {
    std::vector<StrictSetting> settings;
    size_t bad_line = 0;  // the first that git refuses; 0: none
};

StrictConfig parse_git_config_strictly(std::string_view text);

// A letter of a section or of a key.
bool is_git_key_letter(char letter);

}  // namespace plan
