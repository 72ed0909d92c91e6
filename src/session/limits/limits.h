// SPDX-License-Identifier: MIT
// Chooses what enforces each limit of a plan on this machine: a cgroup if one is delegated to the caller,
// else the kernel's limits for each process, and the supervisor's watch for the rest. A limit that nothing
// can enforce makes the run fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "host/facts.h"
#include "inner/command/process_state.h"
#include "plan/plan.h"
#include "session/limits/watch.h"

namespace session {

// A cgroup (version 2) for the jail, where a part of the tree is delegated to the caller. The kernel then
// counts the jail's processes and memory exactly, whatever they do.

class Cgroup {
  public:
    // 0 means no limit.
    struct Bounds {
        uint64_t processes = 0;
        uint64_t memory = 0;
    };
    // Limits that the jail reached.
    struct Events {
        uint64_t refused_processes = 0;
        bool ran_out_of_memory = false;
    };

    static constexpr const char* kRoot = "/sys/fs/cgroup";

    // Makes a cgroup below the nearest ancestor of the caller that is delegated and enables the needed
    // controllers for its children. `membership` is the content of /proc/self/cgroup. Returns nothing where
    // no ancestor is suitable.
    static std::optional<Cgroup> make(const std::string& root, std::string_view membership,
                                      const Bounds& bounds);

    Cgroup(Cgroup&&) = default;
    Cgroup& operator=(Cgroup&&) = default;
    ~Cgroup() { remove(); }

    // cgroup.procs: a process that writes "0" there joins the cgroup.
    int entrance() const { return entrance_.get(); }
    Events events() const;
    // Call it when all processes in the cgroup are dead. Safe to call again.
    void remove();

  private:
    Cgroup() = default;
    bool set_up(const Bounds& bounds);

    std::string path_;
    base::Fd entrance_;
};

struct Enforcement {
    std::vector<inner::ResourceLimit> resources;
    std::optional<Cgroup> cgroup;
    Watch watch;
};

// Does not look at the machine if no limit is set. `cgroup_root` is where cgroups are mounted.
base::Result<Enforcement> enforce(const plan::Limits& limits, const host::Facts& facts,
                                  const std::string& cgroup_root = Cgroup::kRoot);

// The error where the jail's processes can't be seen, so that the limit would not be held.
base::Error unmeasurable(const policy::Limit& limit, std::string_view key);

// Paths in the jail whose files are in memory.
std::vector<std::string> memory_file_systems(const plan::Plan& plan);

}  // namespace session
