// SPDX-License-Identifier: MIT
// Checks entries of network.* as the gateway would read them, before a run. The configuration library reads
// them as plain text.
#pragma once

#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace cli {

// The mistake in one entry of this setting; success for settings that are not about the network.
base::Status check_network_entry(const config::Setting& setting, const config::Item& item);

// All mistakes in the network settings of a file, each with its line.
std::vector<base::Error> network_problems(const config::Values& values);

// Entries of these values that open something but have no effect, one line each.
std::vector<std::string> network_warnings(const config::Values& values);

}  // namespace cli
