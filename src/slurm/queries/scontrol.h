// SPDX-License-Identifier: MIT
// The parts of scontrol's handler.
#pragma once

#include <span>
#include <string>

#include "slurm/queries/request.h"

namespace slurm::queries {

// `words` are those after the verb.
using Words = std::span<const std::string>;

Ending scontrol_show(const QueryRequest& request, Words words);
Ending scontrol_update(const QueryRequest& request, Words words);

// Runs scontrol with the options of the request and these words, and answers with its output.
Ending run_scontrol(const QueryRequest& request, const std::vector<std::string>& words);
// The same with ids of which some are replaced.
Ending run_disguised(const QueryRequest& request, const std::vector<std::string>& words,
                     const Disguise& disguise);

// The words come after "--", so that scontrol does not read one as an option.
Arguments scontrol_arguments(const QueryRequest& request, const std::vector<std::string>& words);

}  // namespace slurm::queries
