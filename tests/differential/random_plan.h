// SPDX-License-Identifier: MIT
// Plans that no policy would make: mounts of all kinds in and over each other, chosen by a seed.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace differential {

// The names below the scratch tree that random plans show: made on the host by the test.
struct ScratchEntry {
    const char* name;
    char kind;  // d: a directory; f: a file; l: a link
    unsigned mode;
    const char* content;  // of a file; what a link leads to
};
extern const ScratchEntry kScratch[20];

// `scratch` holds the tree, `walker` is the program that runs. The same seed gives the same plan.
// `is_altered`: one mount is another than it should be, which a comparison must find.
plan::Plan random_plan(uint64_t seed, const std::string& scratch, const std::string& walker, bool is_altered);

}  // namespace differential
