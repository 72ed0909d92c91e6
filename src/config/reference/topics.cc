// SPDX-License-Identifier: MIT
#include "config/reference/topics.h"

#include <algorithm>

#include "base/text.h"
#include "config/data.h"

namespace config {
namespace {

constexpr Topic kTopics[] = {
    {"network", "what can be reached, and how to open or close a host"},
    {"home", "what of your files is seen, hidden, written and kept"},
    {"agents", "starting an agent, its log-in, its state, a profile of your own"},
    {"slurm", "jobs from a jail, and jobs in a jail"},
    {"admin", "a machine for many: a ceiling, and proof that it holds"},
    {"trouble", "something does not work: where to look, what to do"},
    {"backends", "what each backend reaches, and which network modes it offers"},
    {"settings", "all that a configuration file can say"},
};

constexpr Theme kThemes[] = {
    {"Start", "run plan why policy", "ui", "--preset --dry-run --json --help --version"},
    {"Files and environment", "", "project home mounts sockets env", "--project"},
    {"Network", "", "network", ""},
    {"Agents, modules, Slurm", "", "agents modules slurm", ""},
    {"Isolation, limits, devices", "", "isolation limits devices", "--limit"},
    {"Configuration", "config profiles trust untrust", "lock", ""},
    {"This machine", "doctor selftest", "", ""},
    {"Sessions that run", "ps inspect stop allow block reload pending approve deny monitor notify", "", ""},
    {"Records", "log digest slurm-log", "audit trace", ""},
    {"About the program", "completion help version", "", ""},
};

struct Placeholder {
    std::string_view flag;
    std::string_view text;
};
// Flags whose type does not explain the value, or whose list of choices is too long for a column.
constexpr Placeholder kPlaceholders[] = {
    {"--env", "NAME[=VALUE]"}, {"--home", "MODE"},    {"--network", "MODE"},   {"--backend", "NAME"},
    {"--require", "LEVEL"},    {"--publish", "PORT"}, {"--host-port", "PORT"}, {"--agent", "NAME"},
};

std::string_view placeholder_of_type(Type type) {
    switch (type) {
        case Type::boolean:
            return {};
        case Type::integer:
            return "NUMBER";
        case Type::size:
            return "SIZE";
        case Type::duration:
            return "TIME";
        case Type::choice:
            return "WORD";
        case Type::text:
            return "TEXT";
        case Type::path:
        case Type::path_list:
        case Type::home_list:
        case Type::project_list:
            return "PATH";
        case Type::name_list:
            return "NAME";
        case Type::pattern_list:
            return "PATTERN";
        case Type::rule_list:
            return "HOST";
        case Type::level_list:
            return "CONTROL=LEVEL";
        case Type::assignments:
            return "NAME=VALUE";
        case Type::file_texts:
            return "PATH=CONTENT";
    }
    return {};
}

bool lists(std::string_view words, std::string_view word) {
    return std::ranges::any_of(base::split(words, ' '), [&](std::string_view one) { return one == word; });
}

}  // namespace

std::span<const Topic> topics() {
    return kTopics;
}

std::string_view topic_text(std::string_view name) {
    const DataFile* file = find_data_file("help/" + std::string(name) + ".txt");
    return file ? file->content : std::string_view();
}

std::span<const Theme> themes() {
    return kThemes;
}

std::vector<const Verb*> verbs_of(const Theme& theme) {
    std::vector<const Verb*> found;
    for (const Verb& verb : verbs()) {
        if (lists(theme.verbs, verb.name)) found.push_back(&verb);
    }
    return found;
}

std::vector<const RunFlag*> run_flags_of(const Theme& theme) {
    std::vector<const RunFlag*> found;
    for (const RunFlag& flag : run_flags()) {
        if (lists(theme.flags, flag.flag)) found.push_back(&flag);
    }
    return found;
}

std::vector<const Setting*> flagged_settings_of(const Theme& theme) {
    std::vector<const Setting*> found;
    for (const Setting& setting : settings()) {
        std::string_view section = setting.key.substr(0, setting.key.find('.'));
        if (!setting.flag.empty() && lists(theme.sections, section)) found.push_back(&setting);
    }
    return found;
}

std::string_view placeholder_of(const Setting& setting) {
    const Placeholder* own = std::ranges::find(kPlaceholders, setting.flag, &Placeholder::flag);
    if (own != std::end(kPlaceholders)) return own->text;
    constexpr size_t kShort = 12;
    if (setting.type == Type::choice && setting.choices.size() <= kShort) return setting.choices;
    return placeholder_of_type(setting.type);
}

}  // namespace config
