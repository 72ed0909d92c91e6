// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace cli {

// Known to one source file alone: another version is one file to compile and one link.
std::string_view version();

}  // namespace cli
