// SPDX-License-Identifier: MIT
// The layer of a session where the kernel has no overlay for the project: a copy of the whole project, which
// is mounted in its place.
//
//   roots/0/clone/tree       the copy
//   roots/0/clone/listing    what was copied (listing.h)
//
// Threat: the copy of a program with the set-user-ID bit would run with the rights of the caller, so files of
// a clone have no such bit (tests/layers/clone_test.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/path.h"
#include "base/result.h"

namespace layers {

struct CloneBounds {
    uint64_t entries = 200'000;
    uint64_t bytes = uint64_t{4} << 30;
};

struct CloneRequest {
    base::Path project;
    std::string root;  // the directory that gets "clone"
    // A larger project is an error.
    std::optional<CloneBounds> bounds = CloneBounds();
};

// Shares the blocks of the files where the file system can. A failure leaves nothing.
base::Status make_clone(const CloneRequest& request);

}  // namespace layers
