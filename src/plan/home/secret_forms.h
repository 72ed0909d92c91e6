// SPDX-License-Identifier: MIT
// Forms in which commands and settings carry a secret beside an assignment: options, logins without a
// scheme, queries of addresses. Pure. When in doubt a text holds a secret.
#pragma once

#include <string_view>

namespace plan {

class SecretNames;

// `curl -u me:word`, `docker login -p word`, `mysql -pword`, `--http-password word`, `git config x.token y`.
// The text is one or more commands.
bool has_secret_option(std::string_view text, const SecretNames& names);

// "me:word@host" without a scheme, as settings of proxies have it.
bool is_login_before_host(std::string_view word);

// "?key=word" in an address.
bool has_secret_query(std::string_view text);

// A key of git's configuration, in lower case, whose value is a secret in any section.
bool is_secret_git_key(std::string_view key);

// A key of .curlrc or .wgetrc whose value is a login.
bool is_login_key(std::string_view line);

}  // namespace plan
