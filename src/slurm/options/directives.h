// SPDX-License-Identifier: MIT
// Parses the head of a batch script as sbatch does: is it a script at all, and which options do its lines
// with "#SBATCH" contain? Lines of other schedulers (#PBS, #BSUB) have no effect, because --ignore-pbs is
// always given. The text of --wrap is not searched for directives; Slurm does not search it either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slurm/options/parse.h"

namespace slurm {

// sbatch's message about a file that is not a script: empty, without "#!", with a NUL byte or DOS line
// breaks.
std::optional<UsageError> check_script(std::string_view script);

struct Directives {
    std::vector<std::string> words;  // of all lines, in order: together they form one command line
    std::string notice;              // sbatch's message about lines in an old spelling; often empty
};

// `name` is the script's name on sbatch's command line, empty for standard input. Messages contain it. A
// separator of heterogeneous components is a Denial.
std::variant<Directives, Denial, UsageError> directives_of(std::string_view script, std::string_view name);

// Parses directives like arguments, but a word among them is an error, and --help has no effect.
Parse parse_directives(const Command& command, const Directives& directives);

}  // namespace slurm
