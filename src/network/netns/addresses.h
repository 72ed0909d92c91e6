// SPDX-License-Identifier: MIT
// The addresses of the gateway and the jail inside the namespace, in the kernel's form.
#pragma once

#include <cstdint>

#include "base/inside/addresses.h"

namespace network::netns {

inline constexpr auto kGatewayV4 = base::v4_bytes(base::FixedAddress::gateway);
inline constexpr auto kGatewayV6 = base::v6_bytes(base::FixedAddress::gateway);
inline constexpr auto kJailV4 = base::v4_bytes(base::FixedAddress::jail);
inline constexpr auto kJailV6 = base::v6_bytes(base::FixedAddress::jail);

// The port of the single listener of a capture. No process in the jail can bind it.
inline constexpr uint16_t kCapturePort = 1;

}  // namespace network::netns
