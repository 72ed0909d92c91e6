// SPDX-License-Identifier: MIT
// One configuration file as keyed values. layer.cc alone sees the TOML library. Nothing here knows what a
// sandbox is: it knows the table of settings, and is strict: an unknown key, a wrong type or a duplicate is
// an error with file, line and column, and the nearest known name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace config {

struct LayerFile {
    Layer layer = Layer::user;
    std::string file;
    std::optional<std::string> match_project;  // [match] project = "/lab/**"
    Values values;
};

struct ParsedFile {
    LayerFile content;                  // meaningful only when there is no problem
    std::vector<base::Error> problems;  // all of them, each with where = "file:line:column"
};

ParsedFile parse_layer(Layer layer, std::string file, std::string_view text);

// One scalar or comma-free list entry from a flag or a variable, appended to or replacing what `values`
// holds.
base::Status add_text(Values& values, const Setting& setting, std::string_view raw, Origin origin);

}  // namespace config
