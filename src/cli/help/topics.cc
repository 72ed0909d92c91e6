// SPDX-License-Identifier: MIT
#include "cli/help/topics.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "config/data.h"

namespace cli {
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

std::string_view placeholder_of_type(config::Type type) {
    switch (type) {
        case config::Type::boolean:
            return {};
        case config::Type::integer:
            return "NUMBER";
        case config::Type::size:
            return "SIZE";
        case config::Type::duration:
            return "TIME";
        case config::Type::choice:
            return "WORD";
        case config::Type::text:
            return "TEXT";
        case config::Type::path:
        case config::Type::path_list:
        case config::Type::home_list:
        case config::Type::project_list:
            return "PATH";
        case config::Type::name_list:
            return "NAME";
        case config::Type::pattern_list:
            return "PATTERN";
        case config::Type::rule_list:
            return "HOST";
        case config::Type::level_list:
            return "CONTROL=LEVEL";
        case config::Type::assignments:
            return "NAME=VALUE";
        case config::Type::file_texts:
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
    const config::DataFile* file = config::find_data_file(base::format("help/{}.txt", name));
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

std::vector<const config::Setting*> flagged_settings_of(const Theme& theme) {
    std::vector<const config::Setting*> found;
    for (const config::Setting& setting : config::settings()) {
        std::string_view section = setting.key.substr(0, setting.key.find('.'));
        if (!setting.flag.empty() && lists(theme.sections, section)) found.push_back(&setting);
    }
    return found;
}

std::string_view placeholder_of(const config::Setting& setting) {
    const Placeholder* own = std::ranges::find(kPlaceholders, setting.flag, &Placeholder::flag);
    if (own != std::end(kPlaceholders)) return own->text;
    constexpr size_t kShort = 12;
    if (setting.type == config::Type::choice && setting.choices.size() <= kShort) return setting.choices;
    return placeholder_of_type(setting.type);
}

}  // namespace cli
