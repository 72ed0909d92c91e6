// SPDX-License-Identifier: MIT
#include "config/secrets.h"

#include "base/path.h"
#include "config/data.h"

namespace config {
namespace {

// User names are short; a longer text in that place is a token.
constexpr size_t kLongestUserName = 20;

}  // namespace

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

std::string_view secret_in(std::string_view value) {
    if (has_password_in_address(value)) return "an address with a password in it";
    if (value.find("-----BEGIN ") != std::string_view::npos &&
        value.find("PRIVATE KEY") != std::string_view::npos) {
        return "a private key";
    }
    for (const DataRow& row : data_list("environment/secret_values")) {
        if (base::matches_name(row.entry, value)) return row.reason;
    }
    return {};
}

}  // namespace config
