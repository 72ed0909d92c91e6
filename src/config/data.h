// SPDX-License-Identifier: MIT
// The lists and texts of share/, compiled in so that the program stays one file. A list line is an entry and,
// after two blanks, its reason. The program shows both to the user.
#pragma once

#include <span>
#include <string_view>

namespace config {

struct DataRow {
    std::string_view entry;
    std::string_view reason;
};

// share/NAME.list, for instance data_list("environment/pass"); empty for an unknown name.
std::span<const DataRow> data_list(std::string_view name);

struct DataFile {
    std::string_view name;  // "presets/review.toml"
    std::string_view content;
};

// Files of share/ that are stored as a whole: presets, texts.
std::span<const DataFile> data_files();
const DataFile* find_data_file(std::string_view name);

}  // namespace config
