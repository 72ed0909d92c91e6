// SPDX-License-Identifier: MIT
// What the processes of a jail use, added up from /proc on the host. Every process of the jail descends from
// its pid 1, so no other process on the machine is read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace session {

class Meter {
  public:
    // `memory_file_systems`: paths in the jail whose files are in memory.
    Meter(pid_t stage, std::vector<std::string> memory_file_systems)
        : stage_(stage), memory_file_systems_(std::move(memory_file_systems)) {}

    // Whether the kernel lists children at all.
    static bool is_possible();

    // Bytes, including files in memory. Exact only if the quick sum, which counts shared pages once for each
    // process, is above `limit`.
    uint64_t memory(uint64_t limit) const;
    // The number of processes.
    size_t processes() const;
    // In clock ticks, including those of ended children.
    uint64_t processor_ticks() const;

  private:
    pid_t stage_;
    std::vector<std::string> memory_file_systems_;
};

}  // namespace session
