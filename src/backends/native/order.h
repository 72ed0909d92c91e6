// SPDX-License-Identifier: MIT
// The work of a launch for a child that exists before the plan (early_child.h): as bytes, because such a
// child has no copy of the supervisor's memory. Both ends are copies of one process, so the steps are copied
// as they lie in memory.
#pragma once

#include <string>
#include <string_view>

#include "backends/native/script.h"
#include "base/result.h"
#include "inner/launch_spec.h"
#include "network/netns/set_up.h"

namespace backends::native {

struct Order {
    network::netns::NetworkRequest network;
    inner::LaunchSpec spec;
    Script script;
};

std::string encode(const network::netns::NetworkRequest& network, const inner::LaunchSpec& spec,
                   const Script& script);
base::Result<Order> decode(std::string_view bytes);

}  // namespace backends::native
