// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace base {

// SHA-256 in lower-case hexadecimal.
std::string sha256(std::string_view content);

}  // namespace base
