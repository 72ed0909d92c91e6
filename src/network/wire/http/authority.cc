// SPDX-License-Identifier: MIT
#include "network/wire/http/authority.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/parse.h"

namespace network::wire {
namespace {

bool is_host_character(char letter) {
    return base::is_name_character(letter) || letter == '-';
}

bool is_ipv6_text(std::string_view text) {
    // inet_pton stops at a NUL byte.
    if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return false;
    in6_addr address;
    return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

}  // namespace

bool is_host_name(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty() || text.size() > kMaximumHostName) return false;
    size_t label = 0;
    for (char letter : text) {
        if (letter == '.') {
            if (label == 0) return false;
            label = 0;
        } else if (!is_host_character(letter) || ++label > kMaximumLabel) {
            return false;
        }
    }
    return label > 0;
}

std::optional<Authority> parse_authority(std::string_view text) {
    Authority authority;
    size_t host_end = 0;
    if (text.starts_with('[')) {
        size_t bracket = text.find(']');
        if (bracket == std::string_view::npos) return std::nullopt;
        authority.host = text.substr(1, std::min<size_t>(bracket - 1, INET6_ADDRSTRLEN));
        authority.is_ipv6 = true;
        if (!is_ipv6_text(authority.host)) return std::nullopt;
        host_end = bracket + 1;
    } else {
        host_end = std::min(text.find(':'), text.size());
        if (!is_host_name(text.substr(0, host_end))) return std::nullopt;
        authority.host = text.substr(0, host_end);
    }
    std::string_view rest = text.substr(host_end);
    if (rest.empty()) return authority;
    if (rest[0] != ':') return std::nullopt;
    authority.port = base::parse_port(rest.substr(1));
    if (!authority.port) return std::nullopt;
    return authority;
}

std::string authority_text(const Authority& authority) {
    std::string text = authority.is_ipv6 ? "[" + authority.host + "]" : authority.host;
    if (authority.port) text += ":" + std::to_string(*authority.port);
    return text;
}

}  // namespace network::wire
