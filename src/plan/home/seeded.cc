// SPDX-License-Identifier: MIT
#include "plan/home/seeded.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "config/secrets.h"

namespace plan {
namespace {

// Keys of git's configuration whose values are secrets, in any section.
constexpr std::string_view kSecretKeys[] = {
    "extraheader", "cookiefile", "savecookies", "sslkey",    "sslcertpasswordprotected",
    "password",    "smtppass",   "token",       "oauthtoken"};

bool is_secret_key(std::string_view line) {
    std::string key = base::lower(base::trim(line.substr(0, line.find('='))));
    return std::ranges::find(kSecretKeys, key) != std::end(kSecretKeys);
}

}  // namespace

std::string without_secrets(std::string_view content) {
    std::string kept;
    bool in_secret_section = false;
    bool continues = false;  // a backslash at the end of a left-out line continues it on the next
    for (std::string_view line : base::split(content, '\n')) {
        std::string_view text = base::trim(line);
        if (continues) {
            continues = text.ends_with('\\');
            continue;
        }
        if (text.starts_with('[')) {
            in_secret_section =
                base::starts_ignoring_case(text, "[credential") || config::has_password_in_address(text);
        }
        if (in_secret_section || is_secret_key(text) || !config::secret_in(text).empty()) {
            continues = text.ends_with('\\');
            continue;
        }
        kept += line;
        kept += '\n';
    }
    if (!content.ends_with('\n') && !kept.empty()) kept.pop_back();
    if (content.ends_with('\n') && kept.ends_with("\n\n")) kept.pop_back();
    return kept;
}

}  // namespace plan
