// SPDX-License-Identifier: MIT
// Plans that no policy would produce: mounts of all kinds in and over each other, selected by a seed.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace differential {

// The names below the scratch tree that random plans show. The test creates them on the host.
struct ScratchEntry {
    const char* name;
    char kind;  // d: a directory; f: a file; l: a link
    unsigned mode;
    const char* content;  // of a file; the target of a link
};
extern const ScratchEntry kScratch[20];

// `scratch` contains the tree, `walker` is the program to run. The same seed gives the same plan.
// `is_altered`: one mount is wrong, and a comparison must find it.
plan::Plan random_plan(uint64_t seed, const std::string& scratch, const std::string& walker, bool is_altered);

}  // namespace differential
