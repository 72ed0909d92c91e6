// SPDX-License-Identifier: MIT
// The one table of settings. A setting is a row: file key, flag, type, which value is narrower, default,
// help. The file reader, the command line, the variables, the merge and its ceiling, completion, `config
// init` and the reference page all use it, so that each fact about a setting is written once.
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
    text_list,     // any texts
    assignments,   // NAME=VALUE; a table in a file
    file_texts,    // PATH=CONTENT; a table in a file
};

// The meaning of "narrower" for a setting. It determines the administrator's ceiling, the values that a
// project file may set, and the property test that no merge is wider than the administrator's layer.
enum class Order {
    neutral,          // neither permits nor forbids anything; every layer may set it
    trusted,          // affects security or what the user reads, but has no order: project files may not
                      // set it
    true_is_strict,   // the administrator's true cannot be changed
    false_is_strict,  // the administrator's false cannot be changed
    choices_ascend,   // the row lists its choices from least to most strict
    lower_is_strict,  // a limit; unset is the widest
    list_restricts,   // every entry removes something; the administrator's entries stay
    list_grants,      // every entry adds something; project files may not
    parents_narrow,   // entries apply only below the administrator's
    admin_only,
};

struct Setting {
    std::string_view key;
    Type type;
    Order order;
    std::string_view flag;      // "" if the setting has no flag
    std::string_view choices;   // "a|b|c"
    std::string_view fallback;  // the built-in default as text; for lists: entries separated by one space, or
                                // a data list "@name"
    bool is_dynamic;            // can change while a session runs
    std::string_view help;      // one sentence, no full stop
};

std::span<const Setting> settings();
// Settings that exist only in the profile of an agent (profile.h). They are not merged.
std::span<const Setting> profile_settings();
// The keys of [credential.NAME] and of the presets in share/credentials. They are not merged by policy/.
std::span<const Setting> credential_settings();
// Lower-case letters, digits, '-' and '_': names of credentials are parts of file names and host names.
bool is_credential_name(std::string_view name);

// The row of a key or of a flag, or null.
const Setting* find_setting(std::string_view key);
const Setting* find_flag(std::string_view flag);

bool is_list(Type type);
std::vector<std::string_view> choices_of(const Setting& setting);

// "AGENT_SANDBOX_NETWORK_MODE"; empty for lists: a variable can't set a list.
std::string variable_of(const Setting& setting);
// The prefix of all these names.
inline constexpr std::string_view kVariablePrefix = "AGENT_SANDBOX_";

// The expected value, for messages and the reference page: "true or false", "open, filtered, proxied or
// isolated", "a list of paths".
std::string expectation(const Setting& setting);

}  // namespace config
