// SPDX-License-Identifier: MIT
// Exact copies of an upper directory: with the kernel's marks, deletions, modes, times, attributes and hard
// links. The original does not change, except that an entry that its owner can't read has another mode while
// it is copied.
//
// With `listing` the original is a project, which does not change at all: what the caller can't read is empty
// in the copy, and what the caller can't make (devices) is missing there.
#pragma once

#include <chrono>
#include <optional>

#include "base/result.h"
#include "layers/clone/listing.h"

namespace layers {

struct CopyRequest {
    int from = -1;  // directories
    int to = -1;    // empty
    int previous =
        -1;  // an earlier copy: files that are the same become further names of its files; -1: none
    std::optional<std::chrono::steady_clock::time_point> end;  // the copy is abandoned then
    Listing* listing = nullptr;                                // gets an entry for each copy
};

// The error after `end` is the one that took_too_long() reports.
base::Status copy_upper(const CopyRequest& request);
bool took_too_long(const base::Error& error);

}  // namespace layers
