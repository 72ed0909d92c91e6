// SPDX-License-Identifier: MIT
// Copies of configuration and start-up files without secrets.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// Private copies of configuration files, without the secrets in them.

// For files in git's format. Leaves out credential sections, lines with a token or with a password in a URL,
// and keys such as http.extraHeader and http.cookieFile.
std::string without_secrets(std::string_view content);

}  // namespace plan
