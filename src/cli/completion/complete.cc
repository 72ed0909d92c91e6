// SPDX-License-Identifier: MIT
#include "cli/completion/complete.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/help/topics.h"
#include "config/data.h"
#include "config/settings.h"
#include "selftest/runner.h"
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
    if (setting.key == "agents.use") return "@profile";
    if (setting.key == "credentials.use") return "@credential";
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

namespace {

using Kind = Completion::Kind;

// What stands before the word at the cursor, read as the parser reads it (cli/arguments.cc), but without
// errors.
struct Line {
    const Verb* verb = nullptr;
    std::vector<std::string> words;  // of the verb
    std::string_view flag;           // the word at the cursor is its value
    std::optional<size_t> command;   // begins at this word
};

bool takes_command(const Verb* verb) {
    return !verb || verb->takes_run_flags;
}

// `why slurm --container` is about an option of Slurm.
bool is_about_slurm(const Line& line) {
    return line.verb && line.verb->name == "why" && !line.words.empty() && line.words[0] == "slurm";
}

Line read_line(std::span<const std::string> before) {
    Line line;
    for (size_t i = 0; i < before.size(); ++i) {
        const std::string& word = before[i];
        if (word == "--") {
            if (!takes_command(line.verb)) continue;
            line.command = i + 1;
            return line;
        }
        if (word.size() > 1 && word.front() == '-' && !is_about_slurm(line)) {
            bool is_attached = word.starts_with("--") && word.find('=') != std::string::npos;
            if (is_attached || !entries_of_flag(line.verb, word).takes_value) continue;
            if (++i == before.size()) line.flag = word;
            continue;
        }
        if (!takes_command(line.verb)) {
            line.words.push_back(word);
            continue;
        }
        const Verb* verb = line.verb ? nullptr : find_verb(word);
        if (!verb) {
            line.command = i;
            return line;
        }
        line.verb = verb;
    }
    return line;
}

void offer(std::span<const std::string_view> entries, const MachineNames& names, Completion& completion) {
    for (std::string_view entry : entries) {
        if (entry == kFiles) completion.kind = Kind::files;
        if (entry == kDirectories) completion.kind = Kind::directories;
        if (entry == kFiles || entry == kDirectories) return;
        if (entry == kLimitKeys) completion.kind = Kind::openings;
        for (Candidate& candidate : candidates_for(entry, names))
            completion.candidates.push_back(std::move(candidate));
    }
}

Completion complete_word_of_verb(const Line& line, const std::string& current, const MachineNames& names) {
    Completion completion;
    if (is_about_slurm(line)) {
        completion.candidates = slurm_candidates(std::span(line.words).subspan(1), current.starts_with('-'));
        return completion;
    }
    offer(entries_after(*line.verb, line.words), names, completion);
    for (Candidate& candidate : completion.candidates) {
        if (candidate.help.empty()) candidate.help = help_in_details(*line.verb, candidate.word);
    }
    return completion;
}

}  // namespace

Completion complete(std::span<const std::string> words, const MachineNames& names) {
    const std::string current = words.empty() ? "" : words.back();
    size_t last = words.empty() ? 0 : words.size() - 1;
    Line line = read_line(words.first(last));
    Completion completion;
    if (line.command) {
        completion.kind = *line.command == last ? Kind::programs : Kind::command;
        completion.index = *line.command;
        return completion;
    }
    size_t equals = current.starts_with("--") ? current.find('=') : std::string::npos;
    if (line.flag.empty() && equals != std::string::npos && !is_about_slurm(line)) {
        line.flag = std::string_view(current).substr(0, equals);
        completion.front = current.substr(0, equals + 1);
    }
    if (!line.flag.empty()) {
        offer(entries_of_flag(line.verb, line.flag).entries, names, completion);
    } else if (current.starts_with('-') && !is_about_slurm(line)) {
        completion.kind = Kind::flags;
        completion.candidates = flags_for(line.verb);
    } else if (takes_command(line.verb)) {
        completion.kind = Kind::programs;
        if (!line.verb) completion.candidates = candidates_for("@verb", names);
    } else {
        return complete_word_of_verb(line, current, names);
    }
    return completion;
}

}  // namespace cli
