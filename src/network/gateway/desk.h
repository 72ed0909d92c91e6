// SPDX-License-Identifier: MIT
// What all faces of the gateway share. The rules may be exchanged for others at any time (steering.h), in the
// same place: whoever keeps a reference sees the new ones, and no verdict is older than the round of the loop
// that it was made in.
#pragma once

#include "network/gateway/journal.h"
#include "network/gateway/loop.h"
#include "network/gateway/names.h"
#include "network/gateway/questions.h"
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
    Questions& questions;
};

}  // namespace network::gateway
