// SPDX-License-Identifier: MIT
// Which files and variables tell where a package manager gets its packages. They are read at launch, and only
// for bundles that network.allow or network.udp names.
#pragma once

#include <vector>

#include "network/rules/bundle.h"

namespace plan {

struct Draft;

std::vector<network::Bundle> client_bundles(Draft& draft);

}  // namespace plan
