// SPDX-License-Identifier: MIT
// Runs probes, each in its own process with a time limit, and prints their findings, one line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "selftest/probe.h"

namespace selftest {

struct Report {
    std::string probe;
    Finding finding;
};

// One line of JSON, and back. Only the form of a line from a jail is checked; its content is not trusted.
std::string encode(const Report& report);
base::Result<Report> decode(std::string_view line);

// The arguments for probes that run together: those of one scenario, among the requested ones. The controls
// have no jail and so no scenario.
std::vector<std::string> words_for(const World& world, std::string_view scenario,
                                   const std::vector<std::string>& asked);
inline constexpr std::string_view kEveryScenario = "every";

// The role `selftest-part probes WORLD SCENARIO WORD…`; it writes reports to standard output.
int run_probes(const std::vector<std::string>& words);

// Runs one probe in a child.
Finding run_probe(const Probe& probe, const World& world);

}  // namespace selftest
