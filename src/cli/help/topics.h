// SPDX-License-Identifier: MIT
// The topics of `help` other than verbs, and the themes by which help and the manual group verbs and options.
#pragma once

#include <span>
#include <string>
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

// Splits the details of a verb (the text after its first sentence in the table), so that help and the manual
// can each wrap them to their own width. A line with two blanks in it is a term and its meaning, and a line
// that begins with a blank continues it. Other lines are prose; "Exit status:" begins a paragraph.

struct Detail {
    std::string term;  // empty: prose
    std::string text;
};
std::vector<Detail> details_in(std::string_view lines);

// The control level of each backend and the attacks that it does not prevent, as Markdown. For `help
// backends` and the tables of docs/security.md.
std::string backends_page();

}  // namespace cli
