// SPDX-License-Identifier: MIT
// Shared by all parts of the gateway. The rules may be replaced at any time (steering.h), in place: every
// reference sees the new ones. No decision uses a verdict from an earlier turn of the loop.
#pragma once

#include "base/process/event_loop.h"
#include "network/gateway/control/approvals.h"
#include "network/gateway/control/journal.h"
#include "network/gateway/names/names.h"
#include "network/gateway/names/resolver.h"
#include "rules/egress.h"
#include "rules/engine.h"

namespace network::gateway {

struct GatewayContext {
    base::EventLoop& loop;
    const Engine& engine;
    const Egress& egress;
    Names& names;
    Resolver& resolver;
    Journal& journal;
    Questions& questions;
};

}  // namespace network::gateway
