// SPDX-License-Identifier: MIT
// Command lines for the record, without what may be a secret in them. Rather too much is hidden than too
// little: a record lies on disk for weeks, and is sent along with reports.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace audit {

// "***" stands for the value of an option, of an assignment or of a header whose name is one of a secret's
// (the patterns that keep variables out of a jail, and what is usual in addresses), for the word after one
// such as "password" or "bearer", for words that look like a key or a token, for USER:PASSWORD behind -u, and
// for the user of an address. A word that is itself a text of several words (`sh -c TEXT`) and holds any of
// these is hidden whole.
std::vector<std::string> without_secrets(std::span<const std::string> command);

// Whether the value of an option, a variable or a header of this name is a secret: "API_KEY", "--token",
// "X-Api-Key", "db.password".
bool is_secret_name(std::string_view name);

}  // namespace audit
