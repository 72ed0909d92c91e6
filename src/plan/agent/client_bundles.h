// SPDX-License-Identifier: MIT
// The files and variables that name the servers of a package manager. They are read at launch, and only for
// bundles that network.allow or network.udp names.
#pragma once

#include <vector>

#include "rules/bundle.h"

namespace plan {

struct Draft;

std::vector<network::Bundle> client_bundles(Draft& draft);

}  // namespace plan
