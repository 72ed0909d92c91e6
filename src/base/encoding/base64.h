// SPDX-License-Identifier: MIT
// Any bytes as ASCII letters (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

std::string to_base64(std::string_view bytes);
// Nothing where the text is not exactly what to_base64 produces.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace base
