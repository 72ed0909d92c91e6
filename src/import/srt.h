// SPDX-License-Identifier: MIT
// Reads the settings of sandbox-runtime (~/.srt-settings.json), and the "sandbox" section of Claude Code's
// settings.json, which has the same keys.
//
// Without a rule, the two programs differ, and the importer keeps our stricter meaning: sandbox-runtime
// allows reading everything that is not denied; here a path is visible only if a rule shows it.
#pragma once

#include <string_view>

#include "import/import.h"

namespace config {

// Returns an error if the text is not JSON or contains no such settings.
base::Result<Imported> import_srt(std::string_view text, const ImportOptions& options = {});

}  // namespace config
