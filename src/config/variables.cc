// SPDX-License-Identifier: MIT
// Settings from AGENT_SANDBOX_ variables. A mistyped name is an error: a restriction that the user asked for
// must not be lost silently.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "config/files/sources.h"

namespace config {
namespace {

constexpr std::string_view kPrefix = "AGENT_SANDBOX_";

// Variables that a jail sets for its command; a second launch inside must ignore them. A user who sets one
// outside means a setting, so there it is an error.
struct SetInside {
    std::string_view name;
    std::string_view instead;
};
constexpr SetInside kSetInside[] = {
    {"AGENT_SANDBOX_SESSION", "unset it"},
    {"AGENT_SANDBOX_PROJECT", "unset it; --project names the project"},
    {"AGENT_SANDBOX_BACKEND", "unset it; AGENT_SANDBOX_ISOLATION_BACKEND chooses the backend"},
    {"AGENT_SANDBOX_SPANK_OPTIONS", "unset it; slurm.spank_options in a file permits such options"},
    {"AGENT_SANDBOX_NETWORK", "unset it; AGENT_SANDBOX_NETWORK_MODE sets the mode"},
    {"AGENT_SANDBOX_PLACE", "unset it"},
};
constexpr std::string_view kInside = "AGENT_SANDBOX=1";

std::string as_variable(std::string_view key) {
    std::string name = std::string(kPrefix) + base::upper(key);
    std::ranges::replace(name, '.', '_');
    return name;
}

base::Error unknown_variable(std::string_view name) {
    std::vector<std::string> variables;
    for (const Setting& setting : settings()) {
        if (is_list(setting.type) && as_variable(setting.key) == name) {
            std::string advice = setting.flag.empty() ? "" : base::format("use {}, or ", setting.flag);
            return base::Error{.what = base::format("{} is a list, and no variable sets one", setting.key),
                               .advice = advice + "write it into a configuration file",
                               .where = std::string(name)};
        }
        if (std::string variable = variable_of(setting); !variable.empty())
            variables.push_back(std::move(variable));
    }
    std::vector<std::string_view> candidates(variables.begin(), variables.end());
    std::string meant = base::nearest(name, candidates);
    return base::Error{
        .what = base::format("the variable {} belongs to no setting", base::printable(name)),
        .advice = meant.empty() ? "unset it" : base::format("unset it; {} was probably meant", meant),
        .where = {}};
}

}  // namespace

base::Result<Values> read_variables(const std::vector<std::string>& environment) {
    Values values;
    bool is_inside = std::ranges::find(environment, kInside) != environment.end();
    for (std::string_view entry : environment) {
        if (!entry.starts_with(kPrefix)) continue;
        size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        std::string_view name = entry.substr(0, equals);
        const SetInside* ours = std::ranges::find(kSetInside, name, &SetInside::name);
        if (ours != std::end(kSetInside)) {
            if (is_inside) continue;
            return base::Error{.what = base::format("{} is set by a jail for what runs in it", name),
                               .advice = std::string(ours->instead),
                               .where = {}};
        }
        auto row = std::ranges::find_if(settings(), [&](const Setting& s) { return variable_of(s) == name; });
        if (row == settings().end()) return unknown_variable(name);
        if (auto added = add_text(values, *row, entry.substr(equals + 1), from_variable(std::string(name)));
            !added) {
            return added.error();
        }
    }
    return values;
}

}  // namespace config
