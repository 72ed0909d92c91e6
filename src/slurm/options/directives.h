// SPDX-License-Identifier: MIT
// The head of a batch script, read as sbatch reads it: is it a script at all, and which options does it carry
// in lines that begin with "#SBATCH"? Lines of other schedulers (#PBS, #BSUB) mean nothing here, since
// --ignore-pbs is always given. The text of --wrap is not read for directives; Slurm does not either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slurm/options/parse.h"

namespace slurm {

// What sbatch says about a file that is no script: empty, without "#!", with a NUL byte or DOS line breaks.
std::optional<UsageError> check_script(std::string_view script);

struct Directives {
    std::vector<std::string> words;  // of all lines, in order: together they are one command line
    std::string notice;              // what sbatch prints about lines in an old spelling; often empty
};

// `name` is the script as sbatch was given it, empty for standard input; complaints name it. A separator of
// heterogeneous components is a Denial.
std::variant<Directives, Denial, UsageError> directives_of(std::string_view script, std::string_view name);

// Directives are parsed like arguments, but a word among them is an error, and --help has no effect.
Parse parse_directives(const Command& command, const Directives& directives);

}  // namespace slurm
