// SPDX-License-Identifier: MIT
// Hosts as the protocols spell them. Only the spelling is judged here; what a name means, its normal form and
// whether it may be reached are for the rules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace network::wire {

using Ipv4 = std::array<uint8_t, 4>;
using Ipv6 = std::array<uint8_t, 16>;

constexpr size_t kMaximumHostName = 253;
constexpr size_t kMaximumLabel = 63;

// Letters, digits, '-', '_' in labels of 1 to 63; one dot at the end is let through for the rules to drop.
bool is_host_name(std::string_view text);

struct Authority {
    std::string host;  // without brackets
    bool is_ipv6 = false;
    std::optional<uint16_t> port;
};

// "name", "name:port", "[ipv6]" or "[ipv6]:port". No user, no zone, no empty or zero port.
std::optional<Authority> parse_authority(std::string_view text);
std::string authority_text(const Authority& authority);

// Letters compare without case, as host names and header names do.
bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace network::wire
