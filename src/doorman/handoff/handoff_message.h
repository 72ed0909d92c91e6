// SPDX-License-Identifier: MIT
// The note that goes with a connection which is handed to the gateway: where its client wanted to go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doorman {

struct Destination {
    bool is_v6 = false;
    unsigned char address[16] = {};  // the first four bytes where it is IPv4
    uint16_t port = 0;

    bool operator==(const Destination&) const = default;
};

// "tcp 192.0.2.1 443", "tcp 2001:db8::1 443"
std::string encode(const Destination& destination);
std::optional<Destination> decode(std::string_view note);

}  // namespace doorman
