// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "network_rules/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const char* broken = network::broken_property(text)) {
        std::fprintf(stderr, "%s\n", broken);
        std::abort();
    }
    return 0;
}
