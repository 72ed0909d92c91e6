// SPDX-License-Identifier: MIT
// Chooses what enforces each limit of a plan on this machine: a cgroup if one is delegated to the caller,
// else the kernel's limits for each process, and the supervisor's watch for the rest. A limit that nothing
// can enforce makes the run fail.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/facts.h"
#include "inner/command/limits.h"
#include "plan/plan.h"
#include "session/limits/cgroup.h"
#include "session/limits/watch.h"

namespace session {

struct Enforcement {
    std::vector<inner::ResourceLimit> resources;
    std::optional<Cgroup> cgroup;
    Watch watch;
};

// Does not look at the machine if no limit is set. `cgroup_root` is where cgroups are mounted.
base::Result<Enforcement> enforce(const plan::Limits& limits, const host::Facts& facts,
                                  const std::string& cgroup_root = Cgroup::kRoot);

// Paths in the jail whose files are in memory.
std::vector<std::string> memory_file_systems(const plan::Plan& plan);

}  // namespace session
