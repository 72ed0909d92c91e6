// SPDX-License-Identifier: MIT
// The object that a path of the caller names, opened once. All later steps use the opened object, so
// replacing a part of the path has no effect.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "doorman/answered_calls.h"
#include "doorman/caller.h"

namespace doorman {

struct Object {
    base::Fd descriptor;
    std::string path;  // its path without links; empty: it has no name (a pipe, a memory file)

    // A path that leads to the opened object.
    std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor.get()); }
};

struct Reference {
    int directory = -100;  // AT_FDCWD, or a descriptor of the caller
    std::string path;
    bool follows = true;  // a link as the last component
};

// The number in "/proc/self/fd/7/more", "/dev/fd/7" and similar paths; not set: another path.
std::optional<int> own_descriptor(const Caller& caller, const std::string& path);

// Zero or an errno.
int open_object(const Caller& caller, const Reference& reference, Object& object);
int open_object(const Caller& caller, int descriptor, Object& object);

// Whether it is at or below one of these paths of this process.
bool lies_within(const Object& object, const std::vector<std::string>& places);

// Modes, owners, times, extended attributes and lengths of files by path: carried out on the opened object
// where it lies in a place that may be changed, refused elsewhere.

Answer answer_attributes(const Caller& caller, const AnsweredCalls& calls);

}  // namespace doorman
