// SPDX-License-Identifier: MIT
// The program under the name of a Slurm command, inside the jail. Of Slurm it implements only the command
// lines: it sends the request to the chaperon and passes bytes, signals and the exit status between the two.
// It does itself only the work that must happen inside the jail: reading the batch script, opening the files
// of srun, running the command of salloc.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/channel/channel.h"
#include "slurm/options/denial.h"

namespace slurm::client {

// The batch script of sbatch. It is searched and read as sbatch does, but inside the jail.

struct Script {
    std::optional<std::string> text;  // nothing: the command line needs no script
    std::string problem;              // sbatch's message about a file that it cannot read; may be empty
    std::optional<Denial> denial;
};

Script read_script(std::span<const std::string> arguments);

// --export-file of the command line or of the script's directives, read inside the jail.
struct ExportFile {
    std::vector<std::string> entries;  // for the request's environment, each with kFromFile
    std::string problem;               // sbatch's message about a file that it cannot read; may be empty
};
ExportFile read_export_file(std::span<const std::string> arguments, const std::optional<std::string>& script);

// The paths where a script of this name may be, in sbatch's order.
std::vector<std::string> script_places(std::string_view name, std::string_view search_path);

// The Slurm command that the program was started as: by the executed file, otherwise by argv[0]. Nothing
// under any other name.
std::optional<std::string> stub_name(std::string_view executed, std::string_view first_word);

// Returns the exit code of the process. If the command was ended by a signal, this process ends by the same
// signal.
int run_stub(const std::string& name, int argc, char** argv, const std::string& path);

}  // namespace slurm::client
