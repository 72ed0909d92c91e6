// SPDX-License-Identifier: MIT
// A control group (version 2) of the jail's own, where a part of the tree is delegated to the caller: the
// kernel then counts the jail's processes and memory exactly, whatever they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace session {

class Cgroup {
  public:
    // What it is to hold; 0 is no limit.
    struct Bounds {
        uint64_t processes = 0;
        uint64_t memory = 0;
    };
    // What came of it.
    struct Events {
        uint64_t refused_processes = 0;
        bool ran_out_of_memory = false;
    };

    static constexpr const char* kRoot = "/sys/fs/cgroup";

    // Makes one below the nearest group above the caller's that is delegated and hands the needed controllers
    // down. `membership` is the content of /proc/self/cgroup. Nothing where there is none.
    static std::optional<Cgroup> make(const std::string& root, std::string_view membership,
                                      const Bounds& bounds);

    Cgroup(Cgroup&&) = default;
    Cgroup& operator=(Cgroup&&) = default;
    ~Cgroup() { remove(); }

    // cgroup.procs: a process that writes "0" there is in.
    int entrance() const { return entrance_.get(); }
    Events events() const;
    // When all processes in it are dead. Safe to call again.
    void remove();

  private:
    Cgroup() = default;
    bool set_up(const Bounds& bounds);

    std::string path_;
    base::Fd entrance_;
};

}  // namespace session
