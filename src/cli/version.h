// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace cli {

// Only one source file contains the version, so that a new version needs one compilation and one link.
std::string_view version();

}  // namespace cli
