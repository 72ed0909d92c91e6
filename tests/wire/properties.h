// SPDX-License-Identifier: MIT
// Properties of the parsers for any bytes. Each function returns the claim that its input breaks, or nothing.
// The unit tests run them with the corpora, libFuzzer with its mutations of the corpora.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace network::wire {

struct Property {
    std::string_view name;  // also the name of its corpus folder and its fuzz target
    std::string (*broken_claim)(std::string_view input);
};

std::span<const Property> properties();

}  // namespace network::wire
