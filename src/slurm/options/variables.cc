// SPDX-License-Identifier: MIT
#include "slurm/options/variables.h"

#include <charconv>

namespace slurm {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return result;
}

bool is_number_but_zero(std::string_view text) {
    long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number != 0;
}

bool is_set_by(FlagVariables rule, std::string_view value) {
    switch (rule) {
        case FlagVariables::when_set:
            return true;
        case FlagVariables::when_yes:
            return value.empty() || lower(value) == "yes" || is_number_but_zero(value);
        case FlagVariables::when_true:
            return lower(value).starts_with('t');
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
bool joined_with_switches(std::string_view variable, std::string_view value, std::vector<Given>& options) {
    if (!variable.ends_with("_WAIT4SWITCH")) return false;
    for (Given& given : options)
        if (given.option->name == "switches")
            given.value = given.value.value_or("") + "@" + std::string(value);
    return true;
}

}  // namespace

std::variant<FromVariables, Denial> options_from_variables(const Command& command,
                                                           std::span<const std::string> environment) {
    FromVariables result;
    for (const Variable& variable : command.variables) {
        const auto value = value_in(environment, variable.name);
        if (!value) continue;
        const std::string entry = std::string(variable.name) + "=" + std::string(*value);
        if (variable.option.empty()) {
            result.environment.push_back(entry);
            continue;
        }
        const Option* option = find_option(command, variable.option);
        if (!option) continue;
        if (option->takes == Takes::nothing && !is_set_by(command.flag_variables, *value)) {
            if (option->verdict == Verdict::pass) result.environment.push_back(entry);
            continue;
        }

        Given given{option, std::nullopt};
        if (option->takes == Takes::value || (option->takes == Takes::maybe && !value->empty()))
            given.value = std::string(*value);
        if (auto denial = judge(given)) {
            denial->what = std::string(variable.name) + " stands for " + denial->what;
            denial->advice = "unset the variable";
            return *denial;
        }
        if (option->verdict == Verdict::pass) result.environment.push_back(entry);
        if (!joined_with_switches(variable.name, *value, result.options)) result.options.push_back(given);
    }
    return result;
}

}  // namespace slurm
