// SPDX-License-Identifier: MIT
// Options outside the command line: directives of a batch script, and environment variables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "slurm/options/parse.h"

namespace slurm {

// Parses the head of a batch script as sbatch does: is it a script at all, and which options do its lines
// with "#SBATCH" contain? Lines of other schedulers (#PBS, #BSUB) have no effect, because --ignore-pbs is
// always given. The text of --wrap is not searched for directives; Slurm does not search it either.

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

// Environment variables that the clients read as options: SBATCH_PARTITION, SLURM_NTASKS, SQUEUE_FORMAT … .
// The command line overrides them, and they override the directives of a script. A variable of a refused
// option is refused like the option.

struct FromVariables {
    // Each variable that is set, as its option, in the order in which Slurm reads them. Drop a directive for
    // one of these: on a real command line it would override the variable.
    std::vector<ParsedOption> options;
    // The variables of passed options, unchanged ("NAME=value"). The client then applies its own precedence:
    // a variable never contradicts an option, the option wins.
    std::vector<std::string> environment;
};

// `environment` has "NAME=value" strings, as for execve(2).
std::variant<FromVariables, Denial> options_from_variables(const Command& command,
                                                           std::span<const std::string> environment);

}  // namespace slurm
