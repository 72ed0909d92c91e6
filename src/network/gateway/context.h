// SPDX-License-Identifier: MIT
// Shared by all parts of the gateway. The rules may be replaced at any time
// (network/gateway/control/supervision.h), in place: every reference sees the new ones. No decision uses a
// verdict from an earlier turn of the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/process/event_loop.h"
#include "network/gateway/control/approvals.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/names/names.h"
#include "network/gateway/names/resolver.h"
#include "rules/egress.h"
#include "rules/engine.h"

namespace network::gateway {

class Broker;

// A connection or a UDP flow as `inspect` and `monitor` show it.

struct ConnectionFacts {
    uint64_t id = 0;  // connections and flows have separate counters
    std::string name;
    std::string address;
    uint16_t port = 0;
    std::string_view protocol;
    uint64_t sent = 0, received = 0;
    std::chrono::milliseconds age{0};
};

struct GatewayContext {
    base::EventLoop& loop;
    const Engine& engine;
    const Egress& egress;
    Names& names;
    Resolver& resolver;
    Journal& journal;
    Approvals& approvals;
    Broker* broker = nullptr;  // null: no credential and no request rule, so nothing is read
};

}  // namespace network::gateway
