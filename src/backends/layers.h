// SPDX-License-Identifier: MIT
// How the mounts of a plan cover each other. Pure.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"

namespace backends {

struct Layer {
    std::optional<plan::MountKind>
        ground;  // the mount that contains the target; nothing: the root, a tmpfs of ours
    std::optional<size_t> ground_index;  // which mount that is
    bool is_in_writable = false;         // an enclosing mount is a writable part of the host
    bool is_covered = false;             // a later mount hides it
    bool is_sealed = false;              // a later seal makes it read-only
};

// True: a file can't be made there, only covered.
bool shows_host(const Layer& layer);

// One for each mount, in the same order.
std::vector<Layer> layers_of(const std::vector<plan::Mount>& mounts);

}  // namespace backends
