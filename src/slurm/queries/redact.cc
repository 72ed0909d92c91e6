// SPDX-License-Identifier: MIT
#include "slurm/queries/redact.h"

#include <algorithm>

#include "base/text.h"

namespace slurm::queries {
namespace {

// Headings and values that may be in place of a name.
constexpr std::string_view kNoNames[] = {"", "USER", "Unknown", "N/A", "(null)", "None"};

constexpr std::string_view kSecretKeys[] = {
    "AuthInfo",          "AuthAltParameters",
    "AuthAltTypes",      "JobCredentialPrivateKey",
    "StorageParameters", "JobCredentialPublicCertificate",
};
constexpr std::string_view kSecretEndings[] = {"Pass", "Password", "Key", "Token"};
// The only key with such an ending whose value is a yes or no.
constexpr std::string_view kTrackKeys = "TrackWCKey";

std::string masked_users(std::string_view list, std::string_view own) {
    std::vector<std::string> names;
    for (std::string_view name : base::split(list, ',')) {
        std::string shown = masked_user(name, own);
        if (std::ranges::find(names, shown) == names.end()) names.push_back(shown);
    }
    return base::join(names, ",");
}

// Masks the users after each "key=", whatever precedes it: hide too much rather than too little.
std::string with_masked_value(std::string_view line, std::string_view key, std::string_view own) {
    std::string text(line);
    for (size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
        size_t begin = at + key.size();
        size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        text.replace(begin, end - begin, masked_users(text.substr(begin, end - begin), own));
    }
    return text;
}

// "ann" and "ann(1000)". A narrow column may truncate the number at any digit.
bool is_own(std::string_view shown, std::string_view own) {
    if (!shown.starts_with(own)) return false;
    shown.remove_prefix(own.size());
    if (shown.ends_with(')')) shown.remove_suffix(1);
    return shown.empty() || (shown.front() == '(' && shown.find_first_not_of("0123456789", 1) == shown.npos);
}

}  // namespace

std::string masked_user(std::string_view shown, std::string_view own) {
    bool is_shown = std::ranges::find(kNoNames, shown) != std::end(kNoNames) || is_own(shown, own);
    return std::string(is_shown ? shown : kSomebody);
}

std::string masked_node(std::string_view line, std::string_view own) {
    std::string text = with_masked_value(line, "Owner=", own);
    // "name@time". A reason may contain brackets of its own.
    for (size_t at = 0; (at = text.find(" [", at)) != text.npos; at += 2) {
        size_t begin = at + 2, sign = text.find_first_of("@ \n]", begin);
        if (sign == text.npos || text[sign] != '@') continue;
        text.replace(begin, sign - begin, masked_user(text.substr(begin, sign - begin), own));
    }
    return text;
}

std::string masked_reservation(std::string_view line, std::string_view own) {
    return with_masked_value(line, "Users=", own);
}

std::string masked_configuration(std::string_view line) {
    std::string_view key = base::trim(line.substr(0, line.find('=')));
    if (key == kTrackKeys) return std::string(line);
    bool is_secret =
        std::ranges::find(kSecretKeys, key) != std::end(kSecretKeys) ||
        std::ranges::any_of(kSecretEndings, [&](std::string_view end) { return key.ends_with(end); });
    return is_secret ? std::string() : std::string(line);
}

}  // namespace slurm::queries
