// SPDX-License-Identifier: MIT
// Requests from inside a jail to the gateway's own address, which is its proxy too.
#pragma once

#include <chrono>
#include <string>

namespace cli {

// The whole answer, head and body; empty if none arrives within this time. Call it only in a mode with
// a gateway: in other modes the address may belong to another machine.
std::string ask_gateway(const std::string& request, std::chrono::seconds longest);

}  // namespace cli
