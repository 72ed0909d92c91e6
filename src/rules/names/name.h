// SPDX-License-Identifier: MIT
// Names in the rules: host names, public suffixes, and DNS record types.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace network {

// Host names in the one form in which they are compared: lower case, IDN as A-labels, no dot at the end.
// Ambiguous text is refused: a name that ends in two dots, a name whose last label is a number (some
// resolvers read 127.1, 0x7f000001 and 017700000001 as loopback), or bytes that end a line, a request or an
// authority.

class HostName {
  public:
    // Removes one dot at the end. An address in any spelling is an error.
    static base::Result<HostName> parse(std::string_view text);

    const std::string& str() const { return text_; }
    std::vector<std::string_view> labels() const;

    auto operator<=>(const HostName&) const = default;

  private:
    explicit HostName(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

// For messages about untrusted text: printable, and shortened if it is long.
std::string in_quotes(std::string_view untrusted);

}  // namespace network

template <>
struct std::hash<network::HostName> {
    size_t operator()(const network::HostName& name) const { return std::hash<std::string>()(name.str()); }
};

namespace network {

// Suffixes below which anyone can register a name. A wildcard over one would allow hosts that an attacker
// registers.

// True for a single label (every top-level domain) and for the rows of share/network/public_suffixes.list,
// which contains the common ones and not the whole public list. `suffix` is a normalised name.
bool is_public_suffix(std::string_view suffix);

// DNS record types by name, for network.dns_types. A, AAAA and PTR are always answered, so naming them has no
// effect. HTTPS, SVCB and ANY are an error, because their answers would bypass the gateway.

// Names in upper or lower case. An unknown name is an error that contains its origin.
base::Result<std::vector<uint16_t>> parse_record_types(const std::vector<config::Item>& items);

}  // namespace network
