// SPDX-License-Identifier: MIT
// Private copies of configuration files, without the secrets that people keep in them.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// For files of git's form: sections that name credential helpers, extra headers, cookies and addresses with a
// password in them are left out.
std::string without_secrets(std::string_view content);

}  // namespace plan
