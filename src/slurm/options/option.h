// SPDX-License-Identifier: MIT
// Every option of every Slurm command that is available in the jail, and what becomes of it. The rows stand
// in the order of the real clients' own tables (22.05), because getopt names the candidates of an ambiguous
// abbreviation in that order. An option of another release is marked with it: it is known by its full name
// only, so that abbreviations mean what they mean to 22.05.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slurm {

enum class Takes {
    nothing,
    value,
    maybe,  // only as "--long=value" or "-xvalue"
};

enum class Verdict {
    pass,     // goes to the real client as it is
    handled,  // the command's own handler gives it its meaning; emit() leaves it out
    refuse,
};

// What a value must look like where that matters to us; Slurm judges the rest, in its own words. Ids of jobs
// are judged by those who know the scope.
enum class Check {
    text,      // without control characters
    anything,  // a handled value of which no part becomes a name or a line
    word,      // letters, digits and "_-.+": the name of a plug-in
    job_name,  // without "/" and control characters: it becomes part of file names
    nodes,     // a list of nodes; Slurm takes one with "/" for a file
};

struct Option {
    std::string_view name;  // empty: it has only its letter
    char letter = 0;        // 0: it has only its name
    Takes takes = Takes::nothing;
    Verdict verdict = Verdict::pass;
    Check check = Check::text;
    std::string_view code;     // refused: the denial's code
    std::string_view reason;   // refused: what the agent is told; handled: why Slurm does not get it as it is
    std::string_view same_as;  // not empty: another name of that option, which decides everything
    std::string_view release;  // not empty: not in 22.05; "from 23.02", "until 20.11"
    bool informs = false;      // the client prints something about itself and ends, whatever follows
};

// An environment variable that the client takes for an option.
struct Variable {
    std::string_view name;
    std::string_view option;  // empty: it only changes how the client prints or exits, and passes
};

// When a variable of an option without a value sets it.
enum class FlagVariables {
    when_set,
    when_yes,   // empty, "yes" or a number other than 0
    when_true,  // begins with "t"
};

// Whether a lone ":" among the words begins another component of a heterogeneous job.
enum class Colon { is_a_word, separates_in_front, separates };

struct Command {
    std::string_view name;
    std::span<const Option> options;
    std::span<const Variable> variables;
    FlagVariables flag_variables = FlagVariables::when_set;
    bool stops_at_first_word = false;  // options end at the first word; otherwise words and options may mix
    bool hints_at_help = true;         // a usage error is followed by: Try "NAME --help" for more information
    int usage_exit_code = 1;
    Colon colon = Colon::is_a_word;
};

std::span<const Command> commands();
const Command* find_command(std::string_view name);

// By its long name; a name that is another's becomes that other.
const Option* find_option(const Command& command, std::string_view name);

// "--partition", or "-t" for an option without a long name.
std::string name_of(const Option& option);

// Commands that are never run for the agent.
struct RefusedCommand {
    std::string_view name;
    std::string_view code;
    std::string_view reason;
};

std::span<const RefusedCommand> refused_commands();
const RefusedCommand* find_refused_command(std::string_view name);

}  // namespace slurm
