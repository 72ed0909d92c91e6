// SPDX-License-Identifier: MIT
// Host names in the one form in which they are compared: lower case, IDN as A-labels, no dot at the end.
// Ambiguous text is refused: a name that ends in two dots, a name whose last label is a number (some
// resolvers read 127.1, 0x7f000001 and 017700000001 as loopback), or bytes that end a line, a request or an
// authority.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace network {

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
