// SPDX-License-Identifier: MIT
// Reads the settings of sandbox-runtime (~/.srt-settings.json), and the "sandbox" section of Claude Code's
// settings.json, which has the same keys.
//
// Where the two differ in what they mean without a rule, the stricter one is taken: everything that
// sandbox-runtime does not deny can be read there, while here nothing exists that no rule shows.
#pragma once

#include <string_view>

#include "import/import.h"

namespace config {

// An error is a text that is no JSON, or holds no such settings.
base::Result<Imported> import_srt(std::string_view text, const ImportOptions& options = {});

}  // namespace config
