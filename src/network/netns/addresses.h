// SPDX-License-Identifier: MIT
// The addresses of the gateway and the jail inside the namespace, in the kernel's form.
// network/gateway/names/names.h has them as values, and a test compares the two.
#pragma once

#include <array>
#include <cstdint>

namespace network::netns {

inline constexpr std::array<uint8_t, 4> kGatewayV4 = {198, 18, 0, 1};
inline constexpr std::array<uint8_t, 4> kJailV4 = {198, 18, 0, 2};
inline constexpr std::array<uint8_t, 16> kGatewayV6 = {0xfd, 0x61, 0x67, 0x65, 0x6e, 0x74, 0, 0,
                                                       0,    0,    0,    0,    0,    0,    0, 1};
inline constexpr std::array<uint8_t, 16> kJailV6 = {0xfd, 0x61, 0x67, 0x65, 0x6e, 0x74, 0, 0,
                                                    0,    0,    0,    0,    0,    0,    0, 2};

// The port of the single listener of a capture. No process in the jail can bind it.
inline constexpr uint16_t kCapturePort = 1;

}  // namespace network::netns
