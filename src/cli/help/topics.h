// SPDX-License-Identifier: MIT
// The topics of `help` other than verbs, and the themes by which help and the manual group verbs and options.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "config/settings.h"

namespace cli {

struct Topic {
    std::string_view name;
    std::string_view help;
};

// Topics with a text in share/help, and topics that are generated from tables: backends and settings.
std::span<const Topic> topics();
// The text of share/help/NAME.txt, or empty.
std::string_view topic_text(std::string_view name);

struct Theme {
    std::string_view title;
    std::string_view verbs;     // separated by a blank
    std::string_view sections;  // of settings whose flags belong here
    std::string_view flags;     // flags of runs that are not settings
};

std::span<const Theme> themes();

std::vector<const Verb*> verbs_of(const Theme& theme);
std::vector<const RunFlag*> run_flags_of(const Theme& theme);
std::vector<const config::Setting*> flagged_settings_of(const Theme& theme);

// The placeholder for the value of a setting's flag in help: "PATH", "on|auto|off"; empty if the flag takes
// no value.
std::string_view placeholder_of(const config::Setting& setting);

}  // namespace cli
