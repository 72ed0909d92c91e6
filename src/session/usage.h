// SPDX-License-Identifier: MIT
// What the processes of a jail use, added up from /proc as the host sees them. Every process of the jail
// descends from its pid 1, so nothing else on the machine is looked at.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace session {

class Meter {
  public:
    // `memory_file_systems`: places inside the jail whose files are kept in memory.
    Meter(pid_t stage, std::vector<std::string> memory_file_systems)
        : stage_(stage), memory_file_systems_(std::move(memory_file_systems)) {}

    // Whether the kernel tells of children at all.
    static bool is_possible();

    // Bytes, those of files in memory included. Exact only where the quick sum, which counts shared pages for
    // each process that has them, is above `limit`.
    uint64_t memory(uint64_t limit) const;
    // How many there are.
    size_t processes() const;
    // In clock ticks, those of ended children included.
    uint64_t processor_ticks() const;

  private:
    pid_t stage_;
    std::vector<std::string> memory_file_systems_;
};

}  // namespace session
