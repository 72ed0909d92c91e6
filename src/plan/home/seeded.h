// SPDX-License-Identifier: MIT
// Private copies of configuration files, without the secrets in them.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// For files in git's format. Leaves out credential sections, lines with a token or with a password in a URL,
// and keys such as http.extraHeader and http.cookieFile.
std::string without_secrets(std::string_view content);

}  // namespace plan
