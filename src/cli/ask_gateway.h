// SPDX-License-Identifier: MIT
// Inside a jail: asks the network gateway for its verdict on a host at this moment. The gateway has the
// answers and rules that were added since the session began; the jail's summary has only the rules of the
// start.
#pragma once

#include <optional>

#include "rules/engine.h"

namespace cli {

// Nothing if the gateway does not answer within a second. Call it only in a mode with a gateway: in other
// modes the address may belong to another machine.
std::optional<network::Verdict> ask_gateway(const network::Question& question);

}  // namespace cli
