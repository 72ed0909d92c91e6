// SPDX-License-Identifier: MIT
// The one table of settings. A setting is a row: file key, flag, type, what a narrower value is, default,
// help. The file reader, the command line, the variables, the merge and its ceiling, completion, `config
// init` and the reference page are all made from it; nothing about a setting is said twice.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace config {

enum class Type {
    boolean,
    integer,
    size,      // bytes; "512M", "2G"
    duration,  // seconds; "90s", "10m", "2h"
    choice,
    text,
    path,          // one absolute path; ~ is the home directory
    path_list,     // absolute paths; ~ is the home directory
    home_list,     // paths relative to the home directory
    project_list,  // paths or patterns relative to the project
    name_list,     // exact names
    pattern_list,  // names with * and ?; a trailing /i ignores case
    rule_list,     // network rules
    level_list,    // CONTROL=LEVEL
    assignments,   // NAME=VALUE; a table in a file
    file_texts,    // PATH=CONTENT; a table in a file
};

// What "narrower" means for a setting. From this one word follow the administrator's ceiling, what a project
// file may say, and the property test of the law that no merge is wider than the administrator's layer.
enum class Order {
    neutral,          // permits nothing and forbids nothing; every layer may set it
    trusted,          // matters, but has no order: project files may not set it
    true_is_strict,   // the administrator's true sticks
    false_is_strict,  // the administrator's false sticks
    choices_ascend,   // choices stand in the row from least to most strict
    lower_is_strict,  // a limit; unset is the widest
    list_restricts,   // every entry takes something away; the administrator's entries stay
    list_grants,      // every entry adds something; project files may not
    parents_narrow,   // entries count only below the administrator's
    admin_only,
};

struct Setting {
    std::string_view key;
    Type type;
    Order order;
    std::string_view flag;      // "" where there is none
    std::string_view choices;   // "a|b|c"
    std::string_view fallback;  // the built-in default as text; for lists: entries separated by one space, or
                                // a data list "@name"
    bool is_dynamic;            // can change while a session runs
    std::string_view help;      // one sentence, no full stop
};

std::span<const Setting> settings();
// Rows that count in the profile of an agent alone (profile.h); no merge sees them.
std::span<const Setting> profile_settings();

// The row of a key or of a flag, or null.
const Setting* find_setting(std::string_view key);
const Setting* find_flag(std::string_view flag);

bool is_list(Type type);
std::vector<std::string_view> choices_of(const Setting& setting);

// "AGENT_SANDBOX_NETWORK_MODE"; empty for lists, which no variable sets.
std::string variable_of(const Setting& setting);
// What the names of all of them begin with.
inline constexpr std::string_view kVariablePrefix = "AGENT_SANDBOX_";

// What is expected, for messages and the reference page: "true or false", "open, filtered, proxied or
// isolated", "a list of paths".
std::string expectation(const Setting& setting);

}  // namespace config
