// SPDX-License-Identifier: MIT
#include "config/completion_flags.h"

#include "base/text.h"
#include "config/data.h"
#include "config/settings.h"
#include "config/verbs.h"

namespace config {
namespace {

constexpr std::string_view kLimits = "limits.";

std::vector<std::string> built_in_presets() {
    std::vector<std::string> names;
    for (const DataFile& file : data_files()) {
        std::string_view name = file.name;
        if (name.starts_with("presets/") && name.ends_with(".toml"))
            names.emplace_back(name.substr(8, name.size() - 13));
    }
    return names;
}

// "memory=", and so on.
std::vector<std::string> limits() {
    std::vector<std::string> words;
    for (const Setting& setting : settings()) {
        if (setting.key.starts_with(kLimits))
            words.push_back(std::string(setting.key.substr(kLimits.size())) + "=");
    }
    return words;
}

Completes completes_for(Type type) {
    switch (type) {
        case Type::choice:
            return Completes::words;
        case Type::path:
        case Type::path_list:
        case Type::home_list:
        case Type::project_list:
            return Completes::paths;
        case Type::boolean:
        case Type::integer:
        case Type::size:
        case Type::duration:
        case Type::text:
        case Type::name_list:
        case Type::pattern_list:
        case Type::rule_list:
        case Type::level_list:
        case Type::assignments:
        case Type::file_texts:
            return Completes::nothing;
    }
    return Completes::nothing;
}

Flag from_run_flag(const RunFlag& row) {
    Flag flag{.name = std::string(row.flag), .help = std::string(row.help)};
    switch (row.value) {
        case FlagValue::none:
            return flag;
        case FlagValue::directory:
            flag.completes = Completes::directories;
            break;
        case FlagValue::preset:
            flag.completes = Completes::words;
            flag.words = built_in_presets();
            break;
        case FlagValue::limit:
            flag.completes = Completes::words;
            flag.words = limits();
            break;
    }
    flag.takes_value = true;
    return flag;
}

}  // namespace

std::vector<std::string> words_of(std::string_view bars) {
    std::vector<std::string> words;
    if (bars.empty()) return words;
    for (std::string_view word : base::split(bars, '|')) words.emplace_back(word);
    return words;
}

std::vector<Flag> all_flags() {
    std::vector<Flag> flags;
    for (const RunFlag& row : run_flags()) flags.push_back(from_run_flag(row));
    for (const Setting& setting : settings()) {
        if (setting.flag.empty()) continue;
        flags.push_back({.name = std::string(setting.flag),
                         .help = std::string(setting.help),
                         .takes_value = setting.type != Type::boolean,
                         .completes = completes_for(setting.type),
                         .words = words_of(setting.choices)});
    }
    return flags;
}

}  // namespace config
