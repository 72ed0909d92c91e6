// SPDX-License-Identifier: MIT
// Secrets in variables: planted in the caller's environment; the probes search for them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "selftest/probe.h"

namespace selftest {

struct PlantedVariable {
    std::string_view probe;
    std::string_view name;
    std::string_view value;  // @ stands for the secret
    std::string_view what;
    Scenario scenario = Scenario::inherit;
};

std::span<const PlantedVariable> planted_variables();
std::string value_of(const PlantedVariable& variable, const World& world);

}  // namespace selftest
