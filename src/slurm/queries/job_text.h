// SPDX-License-Identifier: MIT
// Rewrites the output of `scontrol show job` as it would be without the jail: the comment without its tag,
// and the paths that the agent requested in place of those that Slurm got.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "slurm/jobs/record.h"

namespace slurm::queries {

// Finds a record by the number of a job, of its array or of its heterogeneous job. Called only with numbers
// from the text. A comment can contain a line that looks like the head of another job, so the function must
// check the scope.
using FindRecord = std::function<std::optional<Record>(uint32_t job)>;

// `text` has many lines per job, without --oneliner. `program` is the command that Slurm got for a job
// without a record, such as one of srun.
std::string with_wanted_paths(std::string_view text, const FindRecord& find, std::string_view program = {});

// The same text in the layout of --oneliner.
std::string one_line_each(std::string_view text);

}  // namespace slurm::queries
