// SPDX-License-Identifier: MIT
// A cgroup (version 2) for the jail, where a part of the tree is delegated to the caller. The kernel then
// counts the jail's processes and memory exactly, whatever they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace session {

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

}  // namespace session
