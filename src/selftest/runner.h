// SPDX-License-Identifier: MIT
// Runs probes, each in a process of its own with a time limit, and tells what they found, a line each.
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

// One line of JSON, and back. What comes out of a jail is not believed beyond its form.
std::string encode(const Report& report);
base::Result<Report> decode(std::string_view line);

// Which probes run together: those of one scenario, among the words that were asked for. The controls have no
// jail and so no scenario.
std::vector<std::string> words_for(const World& world, std::string_view scenario,
                                   const std::vector<std::string>& asked);
inline constexpr std::string_view kEveryScenario = "every";

// The part: `selftest-part probes WORLD SCENARIO WORD…`; reports go to standard output.
int run_probes(const std::vector<std::string>& words);

// One probe in a child.
Finding run_probe(const Probe& probe, const World& world);

}  // namespace selftest
