// SPDX-License-Identifier: MIT
// Help that teaches: examples first, then the verbs, then the options; all but the examples come from the
// tables.
#include <algorithm>

#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/backends_page.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/reference.h"
#include "config/settings.h"
#include "config/verbs.h"

namespace cli {
namespace {

using base::Style;
using base::Table;

struct Example {
    std::string_view line;
    std::string_view meaning;
};
constexpr Example kExamples[] = {
    {"agent-sandbox claude", "the agent works here and sees little else"},
    {"agent-sandbox --read-only bash", "for a review: the project can't be changed"},
    {"agent-sandbox --ro ~/data make test", "one more directory to read"},
    {"agent-sandbox --dry-run bash", "print the jail, run nothing"},
    {"agent-sandbox why path ~/.ssh", "who decided that, and what would change it"},
};

std::string title(std::string_view text, bool is_coloured) {
    return "\n" + base::styled(text, Style::bold, is_coloured) + "\n";
}

std::string placeholder_of(const config::Setting& setting) {
    if (setting.flag == "--env") return "NAME[=VALUE]";
    switch (setting.type) {
        case config::Type::boolean:
            return {};
        case config::Type::integer:
            return "NUMBER";
        case config::Type::size:
            return "SIZE";
        case config::Type::duration:
            return "TIME";
        case config::Type::choice:
            return std::string(setting.choices);
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

// The first clause is enough for a list of options; `help settings` has the whole sentence.
std::string_view first_clause(std::string_view sentence) {
    return sentence.substr(0, std::min(sentence.find("; "), sentence.find(": ")));
}

Table options_table() {
    Table table;
    auto add = [&](std::string_view flag, std::string_view value, std::string_view help) {
        std::string letter(letter_of(flag));
        std::string shown = letter.empty() ? std::string(flag) : letter + ", " + std::string(flag);
        if (!value.empty()) shown += " " + std::string(value);
        table.add({{shown}, {std::string(help), Style::dim}});
    };
    for (const config::RunFlag& row : config::run_flags()) add(row.flag, row.value_name, row.help);
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        add(setting.flag, placeholder_of(setting), first_clause(setting.help));
    }
    return table;
}

std::string main_page(bool is_coloured) {
    Table examples, verb_table;
    for (const Example& example : kExamples) {
        examples.add({{std::string(example.line)}, {std::string(example.meaning), Style::dim}});
    }
    for (const config::Verb& verb : config::verbs()) {
        verb_table.add({{std::string(verb.name)}, {std::string(first_clause(verb.help)), Style::dim}});
    }
    return "agent-sandbox runs a command in a jail that the Linux kernel enforces.\n\n"
           "  agent-sandbox [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
           "  agent-sandbox VERB ...            a word that is a verb is one; -- in front makes it a "
           "command\n" +
           title("Examples", is_coloured) + examples.text(2, is_coloured) + title("Verbs", is_coloured) +
           verb_table.text(2, is_coloured) + title("Options", is_coloured) +
           options_table().text(2, is_coloured) +
           "\nagent-sandbox help VERB says more; agent-sandbox help settings lists what a configuration file "
           "can say.\n";
}

std::string settings_page(bool is_coloured) {
    std::string text;
    for (const config::Setting& setting : config::settings()) {
        text += base::styled(setting.key, Style::bold, is_coloured);
        if (!setting.flag.empty()) text += "  " + std::string(setting.flag);
        text += "\n    " + std::string(setting.help) + "\n    ";
        std::string expected = config::expectation(setting);
        if (!setting.fallback.empty() && !setting.fallback.starts_with('@')) {
            expected += "; default " + std::string(setting.fallback);
        }
        text += base::styled(expected, Style::dim, is_coloured) + "\n";
    }
    return text;
}

std::string verb_page(const config::Verb& verb, bool is_coloured) {
    std::string text =
        base::styled(usage_of(verb.name), Style::bold, is_coloured) + "\n" + std::string(verb.help) + "\n";
    if (!verb.flags.empty()) text += "Options of its own: " + std::string(verb.flags) + "\n";
    std::string_view details = find_verb(verb.name)->details;
    if (!details.empty()) text += "\n" + std::string(details) + "\n";
    return text;
}

}  // namespace

int help_verb(const Invocation& call) {
    bool is_coloured = call.output.colours_results();
    const Arguments& arguments = call.arguments;
    if (arguments.has_own("--reference")) return call.output.result(config::reference_page());

    // `why --help` and `help why` are the same question.
    std::string topic;
    if (arguments.wants_help && arguments.verb != "help") {
        topic = arguments.verb;
    } else if (!arguments.words.empty()) {
        topic = arguments.words.front();
    }
    if (topic.empty()) return call.output.result(main_page(is_coloured));
    if (topic == "backends") return call.output.result(backends_page());
    if (topic == "settings") return call.output.result(settings_page(is_coloured));
    if (const config::Verb* verb = config::find_verb(topic))
        return call.output.result(verb_page(*verb, is_coloured));
    return call.output.fail({.what = "there is no help on '" + topic + "'",
                             .advice = "agent-sandbox --help lists the verbs",
                             .exit_code = base::ExitCode::usage});
}

}  // namespace cli
