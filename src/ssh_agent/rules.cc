// SPDX-License-Identifier: MIT
#include "ssh_agent/rules.h"

#include <algorithm>
#include <optional>

#include "base/encoding/base64.h"
#include "base/encoding/sha1.h"
#include "base/encoding/sha256.h"
#include "base/parse.h"
#include "base/text.h"
#include "ssh_agent/message.h"

namespace ssh_agent {
namespace {

constexpr size_t kLongestUser = 64, kLongestHost = 253;
constexpr size_t kMostWords = 3;

bool is_made_of(std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return base::is_letter(letter) || base::is_digit(letter) || others.find(letter) != others.npos;
    });
}

// The words of a line, separated by blanks.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (words.size() <= kMostWords) {
        size_t start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos) break;
        line.remove_prefix(start);
        size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

// The blob of "KIND BASE64", if both name the same type.
std::optional<std::string> blob_of(std::string_view kind, std::string_view text) {
    std::optional<std::string> blob = base::from_base64(text);
    if (!blob || type_of(*blob) != kind) return std::nullopt;
    return blob;
}

bool is_hash_of(std::string_view salt_and_hash, const std::string& name) {
    size_t bar = salt_and_hash.find('|');
    if (bar == std::string_view::npos) return false;
    std::optional<std::string> salt = base::from_base64(salt_and_hash.substr(0, bar));
    std::optional<std::string> hash = base::from_base64(salt_and_hash.substr(bar + 1));
    return salt && hash && base::hmac_sha1(*salt, name) == *hash;
}

bool names(std::string_view field, const std::string& wanted) {
    if (field.starts_with("|1|")) return is_hash_of(field.substr(3), wanted);
    if (field.find_first_of("!*?") != std::string_view::npos) return false;
    return std::ranges::any_of(base::split(field, ','),
                               [&](std::string_view name) { return base::lower(name) == wanted; });
}

}  // namespace

std::string known_name(std::string_view host, uint16_t port) {
    return port == kSshPort ? std::string(host) : base::format("[{}]:{}", host, port);
}

std::string Host::text() const {
    bool is_address = name.find(':') != std::string::npos;
    std::string text = base::format("{}@{}", user, is_address ? "[" + name + "]" : name);
    return port == kSshPort ? text : base::format("{}:{}", text, port);
}

base::Result<Host> parse_host(std::string_view text) {
    const base::Error error{.what = base::format("'{}' is not a user at a host", base::printable(text)),
                            .advice = "write USER@HOST or USER@HOST:PORT, such as git@github.com"};
    size_t at = text.rfind('@');
    if (at == std::string_view::npos || at == 0 || at > kLongestUser) return error;
    Host host{.user = std::string(text.substr(0, at)), .name = {}, .keys = {}};
    if (!is_made_of(host.user, "._-+@") || host.user.front() == '-') return error;
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('[')) {
        size_t end = rest.find(']');
        if (end == std::string_view::npos) return error;
        host.name = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
    } else {
        size_t end = std::min(rest.find(':'), rest.size());
        host.name = rest.substr(0, end);
        rest.remove_prefix(end);
    }
    if (!is_made_of(host.name, ".-_:") || host.name.front() == '-' || host.name.size() > kLongestHost)
        return error;
    host.name = base::lower(host.name);
    if (rest.empty()) return host;
    std::optional<uint16_t> number =
        rest.front() == ':' ? base::parse_port(rest.substr(1)) : std::optional<uint16_t>();
    if (!number) return error;
    host.port = *number;
    return host;
}

base::Result<Key> parse_public_key(std::string_view text) {
    std::vector<std::string_view> words = words_of(text.substr(0, text.find('\n')));
    std::optional<std::string> blob = words.size() >= 2 ? blob_of(words[0], words[1]) : std::nullopt;
    if (blob) return Key{*blob, fingerprint_of(*blob)};
    return base::Error{.what = text.find("PRIVATE KEY") != std::string_view::npos
                                   ? "it is a private key, which no setting needs"
                                   : "it is not a public key of ssh",
                       .advice = "name the file of the public key, such as ~/.ssh/id_ed25519.pub"};
}

std::string fingerprint_of(std::string_view blob) {
    const std::string digits = base::sha256(blob);
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(base::parse_number<uint8_t>(digits.substr(i, 2), 16).value_or(0));
    std::string text = base::to_base64(bytes);
    while (text.ends_with('=')) text.pop_back();
    return "SHA256:" + text;
}

std::string_view type_of(std::string_view blob) {
    network::wire::Cursor cursor(blob);
    std::string_view type = string_of(cursor);
    return cursor.has_failed() ? std::string_view() : type;
}

std::vector<std::string> known_keys(std::string_view known_hosts, const Host& host) {
    const std::string name = known_name(host.name, host.port);
    std::vector<std::string> keys, revoked;
    for (std::string_view line : base::split(known_hosts, '\n')) {
        std::vector<std::string_view> words = words_of(line);
        if (words.empty() || words[0].starts_with('#')) continue;
        bool is_revoked = words[0] == "@revoked";
        if (is_revoked) words.erase(words.begin());
        if (words.size() < kMostWords || words[0].starts_with('@')) continue;
        if (!is_revoked && !names(words[0], name)) continue;
        std::optional<std::string> blob = blob_of(words[1], words[2]);
        if (blob) (is_revoked ? revoked : keys).push_back(*std::move(blob));
    }
    std::erase_if(keys, [&](const std::string& key) { return std::ranges::count(revoked, key) > 0; });
    return keys;
}

std::string known_lines(const Host& host) {
    std::string lines;
    for (const std::string& key : host.keys) {
        lines +=
            base::format("{} {} {}\n", known_name(host.name, host.port), type_of(key), base::to_base64(key));
    }
    return lines;
}

}  // namespace ssh_agent
