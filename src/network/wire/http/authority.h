// SPDX-License-Identifier: MIT
// Hosts as the protocols spell them. This file only checks the spelling. The rules decide about the meaning,
// the normal form and the permission.
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

// Letters, digits, '-', '_' in labels of 1 to 63. One dot at the end is accepted; the rules remove it.
bool is_host_name(std::string_view text);

struct Authority {
    std::string host;  // without brackets
    bool is_ipv6 = false;
    std::optional<uint16_t> port;
};

// "name", "name:port", "[ipv6]" or "[ipv6]:port". No user, no zone, no empty or zero port.
std::optional<Authority> parse_authority(std::string_view text);
std::string authority_text(const Authority& authority);

}  // namespace network::wire
