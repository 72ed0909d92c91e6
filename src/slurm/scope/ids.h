// SPDX-License-Identifier: MIT
// Job ids as Slurm's commands take them. An id is understood completely or not at all, and what goes to a
// real command is its canonical text: the id that was judged is the id that is used.
//
//   17           a job, or all tasks of an array
//   17_4         a task of an array
//   17_[1-3,7%2] several tasks
//   17+1         a component of a heterogeneous job
//   17.0         a step; also 17.batch, 17.extern, 17.interactive, 17_4.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace slurm {

struct JobId {
    uint32_t job = 0;
    std::optional<std::string> tasks;  // "4", "[1-3,7%2]"
    std::optional<uint32_t> component;
    std::optional<std::string> step;  // "0", "batch"

    bool operator==(const JobId&) const = default;
};

// Beyond these a list is refused: no person writes it, and a real command line has room for no more.
inline constexpr size_t kMaximumIds = 10'000;
inline constexpr size_t kMaximumIdText = 1024;

base::Result<JobId> parse_job_id(std::string_view text);
// Commas between ids; empty places count for nothing, as in Slurm.
base::Result<std::vector<JobId>> parse_job_ids(std::string_view list);

std::string text_of(const JobId& id);

// Decimal digits alone, below `limit`; leading zeros are read over.
std::optional<uint32_t> parse_number(std::string_view digits, uint32_t limit);

// Numbers that no job ever has. The lower 26 bits of an id are counted by its cluster, from 1 on, and in
// these they are 0; the upper bits are those of a federation. One takes the place of the id of a job that the
// jail may not know of, so that Slurm itself says what it says about a job that does not exist. (squeue reads
// ids as signed numbers, hence 31 and not 63.)
inline constexpr uint32_t kStandIns = 31;
constexpr uint32_t stand_in(uint32_t index) {
    return (index % kStandIns + 1) << 26;
}

}  // namespace slurm
