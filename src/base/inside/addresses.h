// SPDX-License-Identifier: MIT
// The fixed addresses inside every jail with a filtered network. 198.18.0.0/15 (RFC 2544) and
// fd61:6765:6e74::/64 belong to the gateway there. The first addresses are the ones below; names get the
// others (network/gateway/names/names.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

enum class FixedAddress : uint8_t {
    gateway = 1,  // answers DNS, and CONNECT and SOCKS5 as a proxy
    jail = 2,     // the jail's own address outside of loopback, which AI_ADDRCONFIG needs
    host = 3,     // the services of the host, kHostServiceName
    denier = 4,   // answers DNS too, with "no such name" where the gateway answers "refused"
};

inline constexpr std::array<uint8_t, 4> kRangeV4 = {198, 18, 0, 0};
inline constexpr std::array<uint8_t, 16> kRangeV6 = {0xfd, 0x61, 0x67, 0x65, 0x6e, 0x74};

constexpr std::array<uint8_t, 4> v4_bytes(FixedAddress which) {
    std::array<uint8_t, 4> bytes = kRangeV4;
    bytes.back() = static_cast<uint8_t>(which);
    return bytes;
}
constexpr std::array<uint8_t, 16> v6_bytes(FixedAddress which) {
    std::array<uint8_t, 16> bytes = kRangeV6;
    bytes.back() = static_cast<uint8_t>(which);
    return bytes;
}

// "198.18.0.1"
inline std::string v4_text(FixedAddress which) {
    std::string text;
    for (uint8_t byte : v4_bytes(which)) text += (text.empty() ? "" : ".") + std::to_string(byte);
    return text;
}

inline constexpr std::string_view kHostServiceName = "host.agent-sandbox.internal";

// Ports of the gateway's own address.
inline constexpr uint16_t kNameServerPort = 53;
inline constexpr uint16_t kProxyPort = 3128;
inline constexpr uint16_t kSocksPort = 1080;

}  // namespace base
