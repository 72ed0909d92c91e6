// SPDX-License-Identifier: MIT
// Copies and removes things that a jail has made: follows no link, opens no device, and copies files, modes,
// times, symbolic links and pipes with a name, but no owner, no set-user-ID bit and no hard link.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace session {

struct CopyLimits {
    uint64_t entries = UINT64_MAX;
    uint64_t bytes = UINT64_MAX;
};

// A name in an open directory.
struct NameIn {
    int directory;
    std::string name;
};

// After an error a part of the copy is left, which the caller removes.
base::Status copy_tree(const NameIn& from, const NameIn& to, CopyLimits limits);

// A file, or a directory with everything below it.
void remove_at(int directory, const std::string& name);

}  // namespace session
