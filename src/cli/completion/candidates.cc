// SPDX-License-Identifier: MIT
#include "cli/completion/candidates.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/help/details.h"
#include "cli/help/topics.h"
#include "config/data.h"
#include "config/settings.h"
#include "selftest/probe.h"
#include "slurm/options/option.h"

namespace cli {
namespace {

Candidates topic_names() {
    Candidates found;
    for (const Topic& topic : topics()) found.push_back({std::string(topic.name), std::string(topic.help)});
    return found;
}

Candidates verb_names() {
    Candidates found;
    for (const Verb& verb : verbs()) found.push_back({std::string(verb.name), std::string(verb.help)});
    return found;
}

Candidates probe_groups() {
    Candidates found;
    for (std::string_view name : selftest::group_names()) found.push_back({.word = std::string(name)});
    return found;
}

Candidates limit_keys() {
    constexpr std::string_view kLimitKeys = "limits.";
    Candidates found;
    for (const config::Setting& setting : config::settings()) {
        if (!setting.key.starts_with(kLimitKeys)) continue;
        std::string_view name = setting.key.substr(kLimitKeys.size());
        found.push_back({base::format("{}=", name), std::string(setting.help)});
    }
    return found;
}

// Bundles of hosts, in the form of a rule.
Candidates bundle_names() {
    Candidates found;
    for (const config::DataRow& row : config::data_list("network/bundles"))
        found.push_back({base::format("@{}", row.entry), std::string(row.reason)});
    return found;
}

struct Source {
    std::string_view kind;
    Candidates (*names)();
};
constexpr Source kSources[] = {
    {"@topic", topic_names},  {"@verb", verb_names},     {"@group", probe_groups},
    {kLimitKeys, limit_keys}, {"@bundle", bundle_names},
};

std::string_view kind_of_values(const config::Setting& setting) {
    // Settings whose type alone does not determine their values.
    if (setting.key == "env.allow") return "@variable";
    if (setting.key == "agents.profile") return "@profile";
    if (setting.key == "network.allow" || setting.key == "network.block") return "@bundle";
    constexpr config::Type kPaths[] = {config::Type::path, config::Type::path_list, config::Type::home_list,
                                       config::Type::project_list};
    return std::ranges::find(kPaths, setting.type) == std::end(kPaths) ? std::string_view() : kFiles;
}

FlagEntries entries_of_setting(const config::Setting& setting) {
    FlagEntries found{.takes_value = setting.type != config::Type::boolean};
    if (setting.type == config::Type::choice) found.entries = config::choices_of(setting);
    if (std::string_view kind = kind_of_values(setting); !kind.empty()) found.entries = {kind};
    return found;
}

void add_options(const slurm::Command& command, Candidates& found) {
    for (const slurm::Option& option : command.options) {
        std::string name = slurm::name_of(option);
        if (std::ranges::find(found, name, &Candidate::word) == found.end())
            found.push_back({std::move(name), std::string(option.reason)});
    }
}

}  // namespace

Candidates candidates_for(std::string_view entry, const MachineNames& names) {
    const Source* source = std::ranges::find(kSources, entry, &Source::kind);
    if (source != std::end(kSources)) return source->names();
    if (entry.starts_with('@')) return names(entry);
    return {{.word = std::string(entry)}};
}

std::vector<std::string_view> entries_after(const Verb& verb, std::span<const std::string> before) {
    std::vector<std::string_view> entries;
    if (verb.words.empty()) return entries;
    for (std::string_view way : base::split(verb.words, '|')) {
        size_t blank = way.find(' ');
        std::string_view first = way.substr(0, blank);
        if (before.empty()) {
            entries.push_back(first);
        } else if (blank != std::string_view::npos && (first.starts_with('@') || first == before[0])) {
            entries.push_back(way.substr(blank + 1));
        }
    }
    return entries;
}

FlagEntries entries_of_flag(const Verb* verb, std::string_view flag) {
    std::span<const RunFlag> rows = run_flags();
    if (auto row = std::ranges::find(rows, flag, &RunFlag::flag); row != rows.end()) {
        FlagEntries found{.takes_value = !row->value_name.empty()};
        if (!row->words.empty()) found.entries = {row->words};
        return found;
    }
    if (const config::Setting* setting = config::find_flag(flag)) return entries_of_setting(*setting);
    if (!verb) return {};
    for (const VerbFlag& own : flags_of(*verb)) {
        if (own.flag != flag || own.value_name.empty()) continue;
        FlagEntries found{.takes_value = true};
        if (flag == kSessionFlag) found.entries = {"@session"};
        return found;
    }
    return {};
}

Candidates flags_for(const Verb* verb) {
    Candidates found;
    if (verb && !verb->takes_run_flags) {
        for (const VerbFlag& own : flags_of(*verb)) {
            found.push_back(
                {std::string(own.flag), help_in_details(*verb, own.flag), !own.value_name.empty()});
        }
        return found;
    }
    for (const RunFlag& row : run_flags())
        found.push_back({std::string(row.flag), std::string(row.help), !row.value_name.empty()});
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        bool takes_value = setting.type != config::Type::boolean;
        found.push_back({std::string(setting.flag), std::string(setting.help), takes_value});
    }
    return found;
}

Candidates slurm_candidates(std::span<const std::string> before, bool wants_options) {
    Candidates found;
    if (!before.empty()) {
        if (const slurm::Command* command = slurm::find_command(before[0])) add_options(*command, found);
        return found;
    }
    for (const slurm::Command& command : slurm::commands()) {
        if (wants_options) {
            add_options(command, found);
        } else {
            found.push_back({.word = std::string(command.name)});
        }
    }
    if (wants_options) return found;
    for (const slurm::RefusedCommand& command : slurm::refused_commands())
        found.push_back({std::string(command.name), std::string(command.reason)});
    return found;
}

std::string help_in_details(const Verb& verb, std::string_view word) {
    for (const Detail& detail : details_in(verb.details)) {
        std::string_view term = detail.term;
        if (term.substr(0, term.find(' ')) == word) return detail.text;
    }
    return {};
}

}  // namespace cli
