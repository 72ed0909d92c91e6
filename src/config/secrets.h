// SPDX-License-Identifier: MIT
// Detects values that look like a secret, independent of their name. The lists are in share/environment.
#pragma once

#include <string_view>

namespace config {

// scheme://user:password@host, or a token in the place of the user's name.
bool has_password_in_address(std::string_view text);

// The reason why a value looks like a secret, or empty: an address with a password, a private key, a token
// with a known prefix.
std::string_view secret_in(std::string_view value);

}  // namespace config
