// SPDX-License-Identifier: MIT
// By what the limits of a plan are held on this machine: a control group where one is delegated to the
// caller, else the kernel's limits for each process, and the supervisor's watch for the rest. Each limit that
// is set is held by one of them, or the run is refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/facts.h"
#include "inner/limits.h"
#include "plan/plan.h"
#include "session/cgroup.h"
#include "session/watch.h"

namespace session {

struct Enforcement {
    std::vector<inner::ResourceLimit> resources;
    std::optional<Cgroup> cgroup;
    Watch watch;
};

// Without a limit nothing is looked at. `cgroup_root` is where control groups are mounted.
base::Result<Enforcement> enforce(const plan::Limits& limits, const host::Facts& facts,
                                  const std::string& cgroup_root = Cgroup::kRoot);

// Places of the jail whose files are kept in memory.
std::vector<std::string> memory_file_systems(const plan::Plan& plan);

}  // namespace session
