// SPDX-License-Identifier: MIT
// What must hold for every file that somebody imports; each returns the claim that these bytes break, or
// null.
#pragma once

#include <string_view>

namespace config {

// What comes out is a file of the user's, or of the administrator's, without a mistake.
const char* imported_bash_is_valid(std::string_view bytes);
const char* imported_srt_is_valid(std::string_view bytes);

}  // namespace config
