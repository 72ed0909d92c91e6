// SPDX-License-Identifier: MIT
// Properties of every imported file. Each function returns the claim that these bytes break, or null.
#pragma once

#include <string_view>

namespace config {

// The import produces a valid file for the user or the administrator.
const char* imported_bash_is_valid(std::string_view bytes);
const char* imported_srt_is_valid(std::string_view bytes);

}  // namespace config
