// SPDX-License-Identifier: MIT
// Resource limits that the kernel enforces for each process of the command. They can't be raised again from
// inside.
#pragma once

#include <cstdint>
#include <vector>

namespace inner {

struct ResourceLimit {
    int resource = 0;  // RLIMIT_…
    uint64_t value = 0;

    bool operator==(const ResourceLimit&) const = default;
};

// Lowers the limits of this process to these; one that is lower already stays. Zero, or errno.
int apply_limits(const std::vector<ResourceLimit>& limits);

}  // namespace inner
