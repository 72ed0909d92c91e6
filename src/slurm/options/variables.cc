// SPDX-License-Identifier: MIT
#include "slurm/options/variables.h"

#include "base/format.h"
#include "base/parse.h"

namespace slurm {
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
