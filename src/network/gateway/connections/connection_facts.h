// SPDX-License-Identifier: MIT
// A connection or a UDP flow as `inspect` and `monitor` show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace network::gateway {

struct ConnectionFacts {
    uint64_t id = 0;  // connections and flows have separate counters
    std::string name;
    std::string address;
    uint16_t port = 0;
    std::string_view protocol;
    uint64_t sent = 0, received = 0;
    std::chrono::milliseconds age{0};
};

}  // namespace network::gateway
