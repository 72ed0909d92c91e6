// SPDX-License-Identifier: MIT
// What a path of the caller's names, opened once. Everything after that happens to the opened object, and
// nothing that is exchanged on the way makes a difference.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "doorman/caller.h"

namespace doorman {

struct Object {
    base::Fd descriptor;
    std::string path;  // where it lies, without links; empty: it has no name (a pipe, a memory file)

    // The name by which calls that take a path reach the opened object.
    std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor.get()); }
};

struct Reference {
    int directory = -100;  // AT_FDCWD, or a descriptor of the caller's
    std::string path;
    bool follows = true;  // a link at the end
};

// Zero or an errno.
int open_object(const Caller& caller, const Reference& reference, Object& object);
int open_object(const Caller& caller, int descriptor, Object& object);

// Whether it lies at or below one of these, as this process sees them.
bool lies_within(const Object& object, const std::vector<std::string>& places);

}  // namespace doorman
