// SPDX-License-Identifier: MIT
// The command line as data. The parser uses the table of settings: a setting with a flag is a run option, and
// its value becomes one more layer of the merge. Options end at the first word that is not an option. That
// word is a verb or the command; words after a command are never parsed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "config/value.h"

namespace cli {

struct Arguments {
    config::Values settings;             // each with its flag as origin
    std::optional<std::string> project;  // absolute, or from ~
    std::optional<std::string> preset;
    bool is_dry_run = false;
    bool wants_json = false;
    bool detaches = false;
    bool wants_help = false;
    bool wants_version = false;

    std::string verb;                                             // empty: the words are a command
    std::vector<std::string> own_options;                         // of the verb: "--origin"
    std::vector<std::pair<std::string, std::string>> own_values;  // "--session", "4f2a"
    std::vector<std::string> words;                               // the command, or what the verb is about
    std::vector<std::string> command;                             // of exec: the words after --
    // The last word that became the value of an option, and that option. When the command is missing, the
    // user probably meant that word as the command.
    std::pair<std::string, std::string> last_taken;
    bool is_empty = false;  // the program was called without any word

    bool has_own(std::string_view option) const;
    // The last value given. Empty means that the option was not given: an empty value is refused.
    std::string own_value(std::string_view option) const;
};

// A flag of a run that is not a setting.
struct RunFlag {
    std::string_view flag;
    std::string_view value_name;  // empty: it takes no value
    std::string_view help;
    std::string_view words;  // for its value, as in Verb
    // The member that stores it; --limit has none.
    bool Arguments::*mark = nullptr;
    std::optional<std::string> Arguments::*value = nullptr;
};
std::span<const RunFlag> run_flags();

// The one-letter spelling of an option ("-q" for "--quiet"), or empty.
std::string_view letter_of(std::string_view flag);

// `words` are those after the program's name. Relative paths in options become absolute against
// `working_directory`, because a layer does not store a directory of its own. Errors are one line and name
// the nearest known option.
base::Result<Arguments> parse_arguments(std::span<const std::string> words,
                                        const base::Path& working_directory);

}  // namespace cli
