// SPDX-License-Identifier: MIT
// Inside a jail: what the network's gateway says about a host right now. It knows what was allowed, blocked
// or denied since the session began, which the jail's summary does not.
#pragma once

#include <optional>

#include "network/rules/engine.h"

namespace cli {

// Nothing: it does not answer, within a moment. Only where there is a gateway: elsewhere its address is that
// of somebody else.
std::optional<network::Verdict> ask_gateway(const network::Question& question);

}  // namespace cli
