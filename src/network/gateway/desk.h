// SPDX-License-Identifier: MIT
// What all faces of the gateway share.
#pragma once

#include "network/gateway/journal.h"
#include "network/gateway/loop.h"
#include "network/gateway/names.h"
#include "network/gateway/resolver.h"
#include "network/rules/egress.h"
#include "network/rules/engine.h"

namespace network::gateway {

struct Desk {
    Loop& loop;
    const Engine& engine;
    const Egress& egress;
    Names& names;
    Resolver& resolver;
    Journal& journal;
};

}  // namespace network::gateway
