// SPDX-License-Identifier: MIT
// What `scontrol show job` says, as it would be without the jail: the comment without its tag, and the paths
// that the agent asked for in the place of those that Slurm was given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "slurm/jobs/record.h"

namespace slurm::queries {

// By the number of a job, of its array or of its heterogeneous job; asked only with numbers that the text
// names. A comment can hold a line that looks like the head of another job, so whoever answers has to know
// which jobs are in scope.
using FindRecord = std::function<std::optional<Record>(uint32_t job)>;

// `text` is many lines to a job, without --oneliner. `program` is what Slurm was given as the command of a
// job that has no record: a step's own.
std::string with_wanted_paths(std::string_view text, const FindRecord& find, std::string_view program = {});

// As --oneliner lays out the same text.
std::string one_line_each(std::string_view text);

}  // namespace slurm::queries
