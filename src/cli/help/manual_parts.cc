// SPDX-License-Identifier: MIT
#include "cli/help/manual_parts.h"

#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/help/details.h"
#include "cli/help/topics.h"
#include "cli/verbs.h"
#include "config/reference/reference.h"
#include "config/reference/scdoc.h"
#include "config/settings.h"

namespace cli {
namespace {

using config::scdoc::bold;
using config::scdoc::escaped;
using config::scdoc::sentence;

std::string details_of(const Verb& verb) {
    std::string text;
    for (const Detail& detail : details_in(verb.details)) {
        std::string term = detail.term.empty() ? "" : bold(detail.term) + ": ";
        text += base::format("\t{}{}\n\n", term, escaped(detail.text));
    }
    return text;
}

std::string verbs_part() {
    std::string text;
    for (const Theme& theme : themes()) {
        std::vector<const Verb*> verbs = verbs_of(theme);
        if (!verbs.empty()) text += base::format("## {}\n\n", theme.title);
        for (const Verb* verb : verbs) {
            text +=
                base::format("{} {}\n\t{}\n\n", bold(verb->name), escaped(verb->usage), sentence(verb->help));
            text += details_of(*verb);
        }
    }
    return text;
}

void add_option(std::string& text, std::string_view flag, std::string_view value,
                const std::string& meaning) {
    std::string_view letter = letter_of(flag);
    if (!letter.empty()) text += bold(letter) + ", ";
    text += bold(flag);
    if (!value.empty()) text += " " + escaped(value);
    text += base::format("\n\t{}\n\n", meaning);
}

std::string options_part() {
    std::string text;
    for (const Theme& theme : themes()) {
        std::vector<const RunFlag*> flags = run_flags_of(theme);
        std::vector<const config::Setting*> settings = flagged_settings_of(theme);
        if (!flags.empty() || !settings.empty()) text += base::format("## {}\n\n", theme.title);
        for (const RunFlag* flag : flags)
            add_option(text, flag->flag, flag->value_name, sentence(flag->help));
        for (const config::Setting* setting : settings) {
            std::string_view placeholder = placeholder_of(*setting);
            std::string meaning = sentence(setting->help);
            if (setting->type == config::Type::choice && placeholder != setting->choices)
                meaning += base::format(" One of {}.", escaped(config::expectation(*setting)));
            if (config::is_list(setting->type)) meaning += " May be given more than once.";
            add_option(text, setting->flag, placeholder,
                       base::format("{} In files {}.", meaning, bold(setting->key)));
        }
    }
    return text;
}

std::string topics_part() {
    std::string text;
    for (const Topic& topic : topics())
        text += base::format("{}\n\t{}\n\n", bold(topic.name), sentence(topic.help));
    return text;
}

struct ManualPart {
    std::string_view name;
    std::string (*text)();
};
constexpr ManualPart kManualParts[] = {
    {"verbs", verbs_part},
    {"options", options_part},
    {"topics", topics_part},
    {"settings", config::settings_manual},
};

}  // namespace

base::Result<std::string> manual_part(std::string_view name) {
    std::vector<std::string> names;
    for (const ManualPart& part : kManualParts) {
        if (part.name == name) return part.text();
        names.emplace_back(part.name);
    }
    return base::Error{.what = base::format("the manual has no part '{}'", name),
                       .advice = "there are " + base::join(names, ", "),
                       .exit_code = base::ExitCode::usage};
}

}  // namespace cli
