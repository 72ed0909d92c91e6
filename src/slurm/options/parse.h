// SPDX-License-Identifier: MIT
// Parses command lines exactly as the real clients do: by the rules of GNU getopt_long. The result is then
// written in one canonical form, so that Slurm reads exactly the options that were checked here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slurm/options/denial.h"
#include "slurm/options/option.h"

namespace slurm {

struct ParsedOption {
    const Option* option;  // never an alias
    std::optional<std::string> value;

    bool operator==(const ParsedOption&) const = default;
};

struct Parsed {
    std::vector<ParsedOption> options;  // in the order of the command line
    std::vector<std::string> words;
    bool informs = false;  // help, usage or version was requested; nothing after it was parsed

    bool has(std::string_view name) const { return last(name) != nullptr; }
    // The last one counts if an option is given twice. Null: not given.
    const ParsedOption* last(std::string_view name) const;
    // Its value. Empty if it was given without one.
    std::optional<std::string> value_of(std::string_view name) const;
    size_t count(std::string_view name) const;
};

// The real client's error: its message and its exit code.
struct UsageError {
    std::string text;  // one or two lines, each with its line break
    int exit_code;
};

using Parse = std::variant<Parsed, Denial, UsageError>;

// In directives, options that print information (--help) are omitted: Slurm ignores them there too.
enum class Source { command_line, directives, users_own };

// `arguments` are those after the command's name. The first problem decides: a refused option is a Denial, an
// option that Slurm does not have either is a UsageError.
Parse parse(const Command& command, std::span<const std::string> arguments,
            Source source = Source::command_line);

// The options that pass, as "--name=value", "--name", or "-x" "value" if there is no name. Handled options
// and words are omitted.
std::vector<std::string> emit(const Parsed& parsed);

// Writes one option in the same form, whatever its action, for handlers that pass one to Slurm themselves.
void append_canonical(std::vector<std::string>& arguments, const ParsedOption& given);

// Why the option or its value is refused. Nothing: it is accepted.
std::optional<Denial> judge(const ParsedOption& given);

}  // namespace slurm
