// SPDX-License-Identifier: MIT
// One configuration file as keyed values. Only layer.cc includes the TOML library. This part uses only the
// table of settings and does not depend on the sandbox. It is strict: an unknown key, a wrong type or a
// duplicate is an error with file, line and column, and the nearest known name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace config {

// The tables [credential.NAME] of a file, by name. Their keys are credential_settings().
using CredentialTables = std::map<std::string, Values, std::less<>>;

struct LayerFile {
    Layer layer = Layer::user;
    std::string file;
    std::optional<std::string> match_project;  // [match] project = "/lab/**"
    Values values;
    CredentialTables credentials;
};

struct ParsedFile {
    LayerFile content;                  // meaningful only when there is no problem
    std::vector<base::Error> problems;  // all of them, each with where = "file:line:column"
};

ParsedFile parse_layer(Layer layer, std::string file, std::string_view text);

// A file whose keys are these rows and no other, for instance a preset of a credential.
ParsedFile parse_table(std::span<const Setting> rows, Layer layer, std::string file, std::string_view text);

// Adds one scalar or one list entry (without commas) from a flag or a variable: a list entry is appended, a
// scalar replaces the value in `values`.
base::Status add_text(Values& values, const Setting& setting, std::string_view raw, Origin origin);

}  // namespace config
