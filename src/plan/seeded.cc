// SPDX-License-Identifier: MIT
#include "plan/seeded.h"

#include <algorithm>
#include <cctype>

#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"

namespace plan {
namespace {

// A user's name is short; what is longer in its place is a token.
constexpr size_t kLongestUserName = 20;

// scheme://user:password@host, or a token alone in the user's place.
bool has_password_in_address(std::string_view text) {
    for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
        std::string_view rest = text.substr(at + 3);
        std::string_view authority = rest.substr(0, rest.find_first_of("/?# \t\n"));
        size_t sign = authority.rfind('@');
        if (sign == std::string_view::npos) continue;
        size_t colon = authority.find(':');
        if (colon != std::string_view::npos && colon + 1 < sign) return true;
        if (sign > kLongestUserName) return true;
    }
    return false;
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return result;
}

// Keys of git's configuration whose values are secrets, in any section.
constexpr std::string_view kSecretKeys[] = {
    "extraheader", "cookiefile", "savecookies", "sslkey",    "sslcertpasswordprotected",
    "password",    "smtppass",   "token",       "oauthtoken"};

bool is_secret_key(std::string_view line) {
    std::string key = lower(base::trim(line.substr(0, line.find('='))));
    return std::ranges::find(kSecretKeys, key) != std::end(kSecretKeys);
}

}  // namespace

std::string without_secrets(std::string_view content) {
    std::string kept;
    bool in_secret_section = false;
    bool continues = false;  // a backslash at the end of a left-out line takes the next one with it
    for (std::string_view line : base::split(content, '\n')) {
        std::string_view text = base::trim(line);
        if (continues) {
            continues = text.ends_with('\\');
            continue;
        }
        if (text.starts_with('[')) {
            in_secret_section = lower(text).starts_with("[credential") || has_password_in_address(text);
        }
        if (in_secret_section || is_secret_key(text) || !secret_in(text).empty()) {
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

std::string_view secret_in(std::string_view value) {
    if (has_password_in_address(value)) return "an address with a password in it";
    if (value.find("-----BEGIN ") != std::string_view::npos &&
        value.find("PRIVATE KEY") != std::string_view::npos) {
        return "a private key";
    }
    for (const config::DataRow& row : config::data_list("environment/secret_values")) {
        if (base::matches_name(row.entry, value)) return row.reason;
    }
    return {};
}

}  // namespace plan
