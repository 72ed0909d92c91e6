// SPDX-License-Identifier: MIT
// The program under the name of a Slurm command, inside the jail. It knows nothing of Slurm but its command
// lines: it carries the request to the chaperon and the bytes, signals and the ending between the two. It
// does itself only what must happen inside the jail: reading the batch script, opening the files of srun,
// running the command of salloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slurm/channel/frame.h"

namespace slurm::client {

// The command's name that the program runs as: by what the kernel executed, else by its first word. Nothing
// under any other name.
std::optional<std::string> stub_name(std::string_view executed, std::string_view first_word);

// Returns the exit code of the process, or does not return: a command that was ended by a signal ends this
// process by the same one.
int run_stub(const std::string& name, int argc, char** argv, const std::string& path);

}  // namespace slurm::client
