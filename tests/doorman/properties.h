// SPDX-License-Identifier: MIT
// Claims about the address that a program in the jail passes to connect(), for any bytes.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "doorman/handoff/connect_handoff.h"

namespace doorman {

// Whether the bytes are an address of the loopback or the unspecified one, read byte by byte.
inline bool names_loopback(std::string_view bytes) {
    sa_family_t family = 0;
    if (bytes.size() < sizeof family) return false;
    std::memcpy(&family, bytes.data(), sizeof family);
    auto is_own = [](std::string_view v4) { return v4[0] == 127 || v4 == std::string_view("\0\0\0\0", 4); };
    if (family == AF_INET) return bytes.size() >= sizeof(struct sockaddr_in) && is_own(bytes.substr(4, 4));
    if (family != AF_INET6 || bytes.size() < sizeof(struct sockaddr_in6)) return false;
    std::string_view v6 = bytes.substr(8, 16);
    constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    if (v6.starts_with(kMapped)) return is_own(v6.substr(12));
    bool is_zero = std::ranges::all_of(v6.substr(0, 15), [](char byte) { return byte == 0; });
    return is_zero && (v6[15] == 0 || v6[15] == 1);
}

inline const char* broken_for_address(std::string_view bytes) {
    Address address;
    bytes = bytes.substr(0, sizeof address.room);
    std::memcpy(&address.room, bytes.data(), bytes.size());
    address.length = static_cast<socklen_t>(bytes.size());
    const bool is_loopback = leads_to_loopback(address);
    if (is_loopback != names_loopback(bytes)) return "the loopback is recognised differently";
    const uint16_t port = ntohs(address.family() == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
    if (leads_to_host_port(address, {})) return "a port is permitted that no list has";
    const uint16_t other = static_cast<uint16_t>(port + 1);
    if (leads_to_host_port(address, {other})) return "another port is permitted";
    if (leads_to_host_port(address, {port}) && !is_loopback) return "a port of another machine is permitted";
    return nullptr;
}

}  // namespace doorman
