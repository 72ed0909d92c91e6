// SPDX-License-Identifier: MIT
// Entries of network.* held against what the gateway would make of them, before anything is run. The
// configuration library reads them as plain texts.
#pragma once

#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace cli {

// What is wrong with one entry of this setting; success for settings that are not the network's.
base::Status check_network_entry(const config::Setting& setting, const config::Item& item);

// What is wrong with all that a file says about the network, each with its line.
std::vector<base::Error> network_problems(const config::Values& values);

// Entries of all these that open something and can have no effect, one line each.
std::vector<std::string> network_warnings(const config::Values& values);

}  // namespace cli
