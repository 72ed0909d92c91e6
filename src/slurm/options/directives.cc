// SPDX-License-Identifier: MIT
// Theory of operation: lines are read until the first that is neither empty nor a comment. The text after
// "#SBATCH" on a line, with or without a blank between, is split into words. A quote keeps blanks and "#"
// until the same quote. A backslash keeps the next character, within both kinds of quotes too, but outside of
// quotes it does not keep a blank. An unquoted "#" ends the line, and so does an empty word, even a quoted
// one. sbatch 22.05 behaves like this; tests/slurm_options/directives_test.cc lists each observed case.
#include "slurm/options/directives.h"

#include "base/parse.h"
#include "base/text.h"

namespace slurm {
namespace {

constexpr std::string_view kMarker = "#SBATCH";
constexpr std::string_view kOldMarker = "#SLURM";
constexpr std::string_view kOldMarkerNotice =
    "sbatch: error: Change from #SLURM to #SBATCH in your script and verify the options are valid in "
    "sbatch\n";
constexpr std::string_view kSeparators[] = {"hetjob", "packjob"};

constexpr std::string_view kBlanks = " \t\n\v\f\r";

bool is_blank(char letter) {
    return kBlanks.find(letter) != kBlanks.npos;
}

std::string_view without_leading_blanks(std::string_view text) {
    const size_t first = text.find_first_not_of(kBlanks);
    return first == text.npos ? std::string_view() : text.substr(first);
}

bool is_separator(std::string_view text) {
    for (const std::string_view separator : kSeparators) {
        if (!base::starts_ignoring_case(text, separator)) continue;
        if (text.size() == separator.size() || is_blank(text[separator.size()])) return true;
    }
    return false;
}

// The text of one line, split into words from its beginning.
class Line {
  public:
    Line(std::string_view text, std::string_view script, size_t number)
        : rest_(without_leading_blanks(text)), script_(script), number_(number) {}

    std::optional<std::variant<Denial, UsageError>> read_words(std::vector<std::string>& words);

  private:
    UsageError complaint(std::string_view kind, char about) const {
        return {base::format("sbatch: fatal: {}: line {}: {} `{}` in [{}]\n", base::printable(script_),
                             number_, kind, about, base::printable(rest_)),
                1};
    }

    std::string_view rest_;
    std::string_view script_;
    size_t number_;
};

std::optional<std::variant<Denial, UsageError>> Line::read_words(std::vector<std::string>& words) {
    while (true) {
        const std::string_view text = without_leading_blanks(rest_);
        if (text.starts_with(':')) return complaint("Unexpected", ':');
        if (is_separator(text))
            return Denial{std::string(code::heterogeneous),
                          base::format("#SBATCH {}: heterogeneous jobs are not made from inside the jail",
                                       text.substr(0, text.find_first_of(kBlanks))),
                          "submit the components as jobs of their own"};
        std::string word;
        char quote = 0;
        bool is_escaped = false;
        size_t at = 0;
        for (; at < text.size() && (quote != 0 || !is_blank(text[at])); ++at) {
            const char letter = text[at];
            if (is_escaped) {
                word += letter;
                is_escaped = false;
            } else if (letter == '\\') {
                is_escaped = true;
            } else if (quote != 0 && letter == quote) {
                quote = 0;
            } else if (quote == 0 && (letter == '"' || letter == '\'')) {
                quote = letter;
            } else if (quote == 0 && letter == '#') {
                break;
            } else {
                word += letter;
            }
        }
        if (quote != 0) return complaint("Unmatched", quote);
        if (word.empty()) return std::nullopt;
        words.push_back(std::move(word));
        rest_ = text.substr(at);
    }
}

std::string_view take_line(std::string_view& script) {
    const size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script = end == script.npos ? std::string_view() : script.substr(end + 1);
    return line;
}

UsageError script_error(std::initializer_list<std::string_view> lines) {
    std::string text;
    for (const std::string_view line : lines) text += base::format("sbatch: error: {}\n", line);
    return {std::move(text), 1};
}

}  // namespace

std::optional<UsageError> check_script(std::string_view script) {
    if (script.empty()) return script_error({"Batch script is empty!"});
    if (without_leading_blanks(script).empty())
        return script_error({"Batch script contains only whitespace!"});
    if (!script.starts_with("#!"))
        return script_error({"This does not look like a batch script.  The first",
                             "line must start with #! followed by the path to an interpreter.",
                             "For instance: #!/bin/sh"});
    if (script.find('\0') != script.npos)
        return script_error(
            {"The Slurm controller does not allow scripts that", "contain a NULL character '\\0'."});
    if (script.find("\r\n") != script.npos)
        return script_error({"Batch script contains DOS line breaks (\\r\\n)",
                             "instead of expected UNIX line breaks (\\n)."});
    return std::nullopt;
}

std::variant<Directives, Denial, UsageError> directives_of(std::string_view script, std::string_view name) {
    name = name.empty() ? "stdin" : name.substr(name.rfind('/') + 1);
    Directives result;
    for (size_t number = 1; !script.empty(); ++number) {
        std::string_view line = take_line(script);
        if (line.starts_with(kMarker)) {
            line.remove_prefix(kMarker.size());
        } else if (line.starts_with(kOldMarker)) {
            line.remove_prefix(kOldMarker.size());
            result.notice = kOldMarkerNotice;
        } else {
            line = without_leading_blanks(line);
            if (line.empty() || line[0] == '#') continue;
            break;
        }
        const auto problem = Line(line, name, number).read_words(result.words);
        if (!problem) continue;
        if (const auto* denial = std::get_if<Denial>(&*problem)) return *denial;
        UsageError error = std::get<UsageError>(*problem);
        error.text.insert(0, result.notice);
        return error;
    }
    return result;
}

Parse parse_directives(const Command& command, const Directives& directives) {
    Parse result = parse(command, directives.words, Source::directives);
    const auto* parsed = std::get_if<Parsed>(&result);
    if (!parsed || parsed->words.empty()) return result;
    return UsageError{base::format("sbatch: error: Invalid directive found in batch script: {}\n",
                                   base::printable(parsed->words.front())),
                      command.usage_exit_code};
}

namespace {

bool is_set_by(FlagVariables rule, std::string_view value) {
    switch (rule) {
        case FlagVariables::when_set:
            return true;
        case FlagVariables::when_yes:
            return value.empty() || base::equals_ignoring_case(value, "yes") ||
                   base::parse_number<long>(value).value_or(0) != 0;
        case FlagVariables::when_true:
            return base::starts_ignoring_case(value, "t");
    }
    return true;
}

// Like getenv: the first entry counts.
std::optional<std::string_view> value_in(std::span<const std::string> environment, std::string_view name) {
    for (const std::string_view entry : environment)
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    return std::nullopt;
}

// Slurm has two variables for the single value of --switches: the count and the time to wait for it.
bool joined_with_switches(std::string_view variable, std::string_view value,
                          std::vector<ParsedOption>& options) {
    if (!variable.ends_with("_WAIT4SWITCH")) return false;
    for (ParsedOption& given : options)
        if (given.option->name == "switches")
            given.value = base::format("{}@{}", given.value.value_or(""), value);
    return true;
}

}  // namespace

std::variant<FromVariables, Denial> options_from_variables(const Command& command,
                                                           std::span<const std::string> environment) {
    FromVariables result;
    for (const Variable& variable : command.variables) {
        const auto value = value_in(environment, variable.name);
        if (!value) continue;
        const std::string entry = base::format("{}={}", variable.name, *value);
        if (variable.option.empty()) {
            result.environment.push_back(entry);
            continue;
        }
        const Option* option = find_option(command, variable.option);
        if (!option) continue;
        if (option->takes == Takes::nothing && !is_set_by(command.flag_variables, *value)) {
            if (option->action == OptionAction::pass) result.environment.push_back(entry);
            continue;
        }

        ParsedOption given{option, std::nullopt};
        if (option->takes == Takes::value || (option->takes == Takes::maybe && !value->empty()))
            given.value = std::string(*value);
        if (auto denial = judge(given)) {
            denial->what = base::format("{} stands for {}", variable.name, denial->what);
            denial->advice = "unset the variable";
            return *denial;
        }
        if (option->action == OptionAction::pass) result.environment.push_back(entry);
        if (!joined_with_switches(variable.name, *value, result.options)) result.options.push_back(given);
    }
    return result;
}

}  // namespace slurm
