// SPDX-License-Identifier: MIT
// The program under the name of a Slurm command, inside the jail. Of Slurm it implements only the command
// lines: it sends the request to the chaperon and passes bytes, signals and the exit status between the two.
// It does itself only the work that must happen inside the jail: reading the batch script, opening the files
// of srun, running the command of salloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slurm/channel/frame.h"

namespace slurm::client {

// The Slurm command that the program was started as: by the executed file, otherwise by argv[0]. Nothing
// under any other name.
std::optional<std::string> stub_name(std::string_view executed, std::string_view first_word);

// Returns the exit code of the process. If the command was ended by a signal, this process ends by the same
// signal.
int run_stub(const std::string& name, int argc, char** argv, const std::string& path);

}  // namespace slurm::client
