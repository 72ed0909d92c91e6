// SPDX-License-Identifier: MIT
// Command lines for the record, without possible secrets. It hides too much rather than too little: a record
// stays on disk for weeks, and users send it with reports.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace audit {

// "***" replaces the value of an option, an assignment or a header with a secret's name (the patterns that
// block variables from a jail, and usual names in addresses), the word after one such as "password" or
// "bearer", words that look like a key or a token, USER:PASSWORD after -u, and the user of an address. A word
// that is itself a text of several words (`sh -c TEXT`) and contains any of these is hidden as a whole.
std::vector<std::string> without_secrets(std::span<const std::string> command);

// Whether the value of an option, a variable or a header of this name is a secret: "API_KEY", "--token",
// "X-Api-Key", "db.password".
bool is_secret_name(std::string_view name);

}  // namespace audit
