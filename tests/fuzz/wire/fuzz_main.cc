// SPDX-License-Identifier: MIT
// One fuzz target per property; the build selects it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "wire/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const network::wire::Property& property =
        *std::ranges::find(network::wire::properties(), WIRE_PROPERTY, &network::wire::Property::name);
    std::string broken = property.broken_claim({reinterpret_cast<const char*>(data), size});
    if (broken.empty()) return 0;
    std::fprintf(stderr, "broken claim: %s\n", broken.c_str());
    std::abort();
}
