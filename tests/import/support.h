// SPDX-License-Identifier: MIT
// The content of an imported file, for the tests of the importers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/layer.h"
#include "import/import.h"

namespace testing_support {

using Texts = std::vector<std::string>;

// The result must always be a valid user file.
inline config::LayerFile carried_over(const config::Imported& imported) {
    config::ParsedFile parsed = config::parse_layer(config::Layer::user, "imported.toml", imported.toml);
    EXPECT_TRUE(parsed.problems.empty()) << parsed.problems.front().line() << "\n" << imported.toml;
    return parsed.content;
}

inline Texts entries(const config::Imported& imported, std::string_view key) {
    Texts texts;
    config::LayerFile file = carried_over(imported);
    auto value = file.values.find(key);
    if (value == file.values.end()) return texts;
    for (const config::Item& item : value->second.items) texts.push_back(item.text);
    return texts;
}

inline std::string scalar(const config::Imported& imported, std::string_view key) {
    config::LayerFile file = carried_over(imported);
    auto value = file.values.find(key);
    return value == file.values.end() ? "(none)" : value->second.text;
}

}  // namespace testing_support
