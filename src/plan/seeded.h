// SPDX-License-Identifier: MIT
// Private copies of configuration files, without the secrets that people keep in them.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// For files of git's form: sections that name credential helpers, extra headers, cookies and addresses with a
// password in them are left out.
std::string without_secrets(std::string_view content);

// Whether a value looks like a secret whatever its name: an address with a password, a private key, a token
// with a known prefix. The reason, or empty.
std::string_view secret_in(std::string_view value);

}  // namespace plan
