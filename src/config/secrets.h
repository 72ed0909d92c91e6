// SPDX-License-Identifier: MIT
// What looks like a secret, whatever it is called. The lists are share/environment's.
#pragma once

#include <string_view>

namespace config {

// scheme://user:password@host, or a token alone in the user's place.
bool has_password_in_address(std::string_view text);

// Whether a value looks like a secret whatever its name: an address with a password, a private key, a token
// with a known prefix. The reason, or empty.
std::string_view secret_in(std::string_view value);

}  // namespace config
