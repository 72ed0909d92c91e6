// SPDX-License-Identifier: MIT
// Command lines, read exactly as the real clients read them: by the rules of GNU getopt_long. What was
// understood is then written anew in one canonical form, so that what was judged here and what Slurm reads
// can't differ.
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

struct Given {
    const Option* option;  // never one that is another name of its option
    std::optional<std::string> value;

    bool operator==(const Given&) const = default;
};

struct Parsed {
    std::vector<Given> options;  // in the order of the command line
    std::vector<std::string> words;
    bool informs = false;  // help, usage or version was asked; nothing after it was read

    bool has(std::string_view name) const { return last(name) != nullptr; }
    // The one that counts where an option is given twice; null: not given.
    const Given* last(std::string_view name) const;
    // Its value, empty where it was given without one.
    std::optional<std::string> value_of(std::string_view name) const;
    size_t count(std::string_view name) const;
};

// What the real client would complain about: its own words, and the code that it exits with.
struct UsageError {
    std::string text;  // one or two lines, each with its line break
    int exit_code;
};

using Parse = std::variant<Parsed, Denial, UsageError>;

// In directives, options that inform (--help) are left out: Slurm does nothing there either.
enum class Source { command_line, directives, users_own };

// `arguments` are those after the command's name. The first problem decides: a refused option is a Denial, an
// option that Slurm does not know either is a UsageError.
Parse parse(const Command& command, std::span<const std::string> arguments,
            Source source = Source::command_line);

// Options that pass, as "--name=value", "--name", or "-x" "value" where there is no name. Handled options and
// words are left out.
std::vector<std::string> emit(const Parsed& parsed);

// One option in the same form, whatever its verdict: for handlers that give one to Slurm themselves.
void append_canonical(std::vector<std::string>& arguments, const Given& given);

// Why the option, or this value of it, is not taken; empty: it is.
std::optional<Denial> judge(const Given& given);

}  // namespace slurm
