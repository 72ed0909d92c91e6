// SPDX-License-Identifier: MIT
// One fuzz target per property; the build defines its header and its function.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include PROPERTY_HEADER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (const char* broken = PROPERTY(std::string_view(reinterpret_cast<const char*>(data), size))) {
        std::fprintf(stderr, "broken claim: %s\n", broken);
        std::abort();
    }
    return 0;
}
