// SPDX-License-Identifier: MIT
// What must hold for any bytes whatever. Each function returns the claim that its input breaks, or nothing;
// unit tests run them over the corpora, libFuzzer over what it makes of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace network::wire {

struct Property {
    std::string_view name;  // also of the folder with its corpus and of the fuzz target
    std::string (*broken_claim)(std::string_view input);
};

std::span<const Property> properties();

}  // namespace network::wire
