// SPDX-License-Identifier: MIT
// Every option of every Slurm command in the jail, and how it is treated. The rows are in the order of the
// real clients' own tables (22.05), because getopt lists the candidates of an ambiguous abbreviation in that
// order. An option of another release has a mark: only its full name is accepted, so that abbreviations mean
// the same as in 22.05.
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

enum class OptionAction {
    pass,     // the real client gets it unchanged
    handled,  // the command's own handler interprets it; emit() omits it
    refuse,
};

// The check of a value, where it matters to us. Slurm checks the rest, with its own messages. Job ids are
// checked by the code for the scope.
enum class Check {
    text,       // without control characters
    anything,   // a handled value that never becomes part of a name or a line
    word,       // letters, digits and "_-.+": the name of a plug-in
    word_list,  // such words, with commas between them
    job_name,   // without "/" and control characters: it becomes part of file names
    nodes,      // a list of nodes; Slurm treats one with "/" as a file
};

struct Option {
    std::string_view name;  // empty: it has only a letter
    char letter = 0;        // 0: it has only a name
    Takes takes = Takes::nothing;
    OptionAction action = OptionAction::pass;
    Check check = Check::text;
    std::string_view code;     // refused: the denial's code
    std::string_view reason;   // refused: the message to the agent; handled: why Slurm does not get it
    std::string_view same_as;  // not empty: this is an alias of that option, whose row applies
    std::string_view release;  // not empty: not in 22.05; "from 23.02", "until 20.11"
    bool informs = false;      // the client prints information about itself and exits
};

// An environment variable that the client reads as an option.
struct Variable {
    std::string_view name;
    std::string_view option;  // empty: it only changes how the client prints or exits, and it passes
};

// When a variable sets an option that has no value.
enum class FlagVariables {
    when_set,
    when_yes,   // empty, "yes" or a number other than 0
    when_true,  // begins with "t"
};

// Whether a single ":" among the words begins another component of a heterogeneous job.
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

// Options that plug-ins of the site add to sbatch, srun and salloc (SPANK): "--name", "--name=" if it takes a
// value, "--name[=]" if the value may be missing. They pass to Slurm, by their full names. An option of
// Slurm's own tables keeps its row. Call it once, before the first parse.
bool is_spank_option(std::string_view text);
// Has them inside a jail, with a blank between each two.
inline constexpr const char* kSpankVariable = "AGENT_SANDBOX_SPANK_OPTIONS";
void add_spank_options(std::span<const std::string> texts);
const Command* find_command(std::string_view name);

// Finds an option by its long name. For an alias, returns the option that it stands for.
const Option* find_option(const Command& command, std::string_view name);

// "--partition", or "-t" for an option without a long name.
std::string name_of(const Option& option);

// Commands that the agent may never run.
struct RefusedCommand {
    std::string_view name;
    std::string_view code;
    std::string_view reason;
};

std::span<const RefusedCommand> refused_commands();
const RefusedCommand* find_refused_command(std::string_view name);

}  // namespace slurm
