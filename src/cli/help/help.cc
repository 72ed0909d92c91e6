// SPDX-License-Identifier: MIT
// Help shows examples first, then the verbs, then the options. Everything except the examples and the texts
// of share/help comes from the tables.
#include "cli/help/help.h"

#include <algorithm>

#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/help/topics.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/reference/manual.h"
#include "config/reference/reference.h"
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

// How a page is shown.
struct Paper {
    bool is_coloured;
    size_t width;
};

std::string title(std::string_view text, const Paper& paper) {
    return base::format("\n{}\n", base::styled(text, Style::bold, paper.is_coloured));
}

std::string table_text(const Table& table, const Paper& paper) {
    return table.text(2, paper.is_coloured, paper.width);
}

std::string paragraph(std::string_view text, const Paper& paper) {
    return base::join(base::wrapped(text, paper.width), "\n") + "\n";
}

// The first clause is enough for a list of options; `help settings` has the whole sentence.
std::string_view first_clause(std::string_view sentence) {
    return sentence.substr(0, std::min(sentence.find("; "), sentence.find(": ")));
}

std::string option_text(const config::Setting& setting, std::string_view placeholder) {
    std::string text(first_clause(setting.help));
    bool shows_choices = setting.type == config::Type::choice && placeholder != setting.choices;
    return shows_choices ? text + ": " + config::expectation(setting) : text;
}

Table options_table(const Theme& theme) {
    Table table;
    auto add = [&](std::string_view flag, std::string_view value, const std::string& help) {
        std::string letter(letter_of(flag));
        std::string shown = letter.empty() ? std::string(flag) : base::format("{}, {}", letter, flag);
        if (!value.empty()) shown += base::format(" {}", value);
        table.add({{shown}, {help, Style::dim}});
    };
    for (const RunFlag* row : run_flags_of(theme)) add(row->flag, row->value_name, std::string(row->help));
    for (const config::Setting* setting : flagged_settings_of(theme)) {
        std::string_view placeholder = placeholder_of(*setting);
        add(setting->flag, placeholder, option_text(*setting, placeholder));
    }
    return table;
}

std::string main_page(const Paper& paper) {
    Table examples, topics;
    for (const Example& example : kExamples) {
        examples.add({{std::string(example.line)}, {std::string(example.meaning), Style::dim}});
    }
    std::string verbs, options;
    for (const Theme& theme : themes()) {
        Table of_theme;
        for (const Verb* verb : verbs_of(theme)) {
            std::string_view help = verb->help.substr(0, verb->help.find("; "));
            of_theme.add({{std::string(verb->name)}, {std::string(help), Style::dim}});
        }
        if (!of_theme.is_empty())
            verbs += title(base::format("Verbs: {}", theme.title), paper) + table_text(of_theme, paper);
        if (Table of_options = options_table(theme); !of_options.is_empty())
            options += title(base::format("Options: {}", theme.title), paper) + table_text(of_options, paper);
    }
    for (const Topic& topic : cli::topics()) {
        topics.add({{std::string(topic.name)}, {std::string(topic.help), Style::dim}});
    }
    return base::format(
        "agent-sandbox runs a command in a jail that the Linux kernel enforces.\n\n"
        "  agent-sandbox [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
        "  agent-sandbox VERB …     a verb's name is the verb; -- in front makes it a command\n"
        "{}{}{}{}{}{}\n{}",
        title("Examples", paper), table_text(examples, paper), verbs, options,
        title("Topics: agent-sandbox help TOPIC", paper), table_text(topics, paper),
        paragraph("agent-sandbox help VERB says more of a verb. Where it is installed, man agent-sandbox has "
                  "all of it.",
                  paper));
}

std::string settings_page(const Paper& paper) {
    auto indented = [&](std::string_view text, Style style) {
        std::string lines;
        for (const std::string& line : base::wrapped(text, paper.width - 4))
            lines += base::format("    {}\n", base::styled(line, style, paper.is_coloured));
        return lines;
    };
    std::string text;
    for (const config::Setting& setting : config::settings()) {
        text += base::styled(setting.key, Style::bold, paper.is_coloured);
        if (!setting.flag.empty()) text += base::format("  {}", setting.flag);
        std::string expected = config::expectation(setting);
        if (!setting.fallback.empty() && !setting.fallback.starts_with('@')) {
            expected += base::format("; default {}", setting.fallback);
        }
        text += base::format("\n{}{}", indented(setting.help, Style::plain), indented(expected, Style::dim));
    }
    return text;
}

std::string verb_page(const Verb& verb, const Paper& paper) {
    std::string text =
        base::format("{}\n{}", base::styled(usage_of(verb.name), Style::bold, paper.is_coloured),
                     paragraph(verb.help, paper));
    if (!verb.flags.empty()) text += base::format("Options of its own: {}\n", verb.flags);
    Table rows;
    std::string details;
    auto end_rows = [&] {
        details += rows.text(0, paper.is_coloured, paper.width);
        rows = Table();
    };
    for (const Detail& detail : details_in(verb.details)) {
        if (!detail.term.empty()) {
            rows.add({{detail.term}, {detail.text}});
            continue;
        }
        end_rows();
        details += paragraph(detail.text, paper);
    }
    end_rows();
    return details.empty() ? text : base::format("{}\n{}", text, details);
}

// A line that begins with # is a heading.
std::string topic_page(std::string_view content, bool is_coloured) {
    std::string text;
    for (std::string_view line : base::split(base::trim(content), '\n')) {
        bool is_heading = line.starts_with("# ");
        text +=
            (is_heading ? base::styled(line.substr(2), Style::bold, is_coloured) : std::string(line)) + "\n";
    }
    return text;
}

base::Error no_help_on(std::string_view topic) {
    std::vector<std::string_view> known;
    for (const Topic& row : topics()) known.push_back(row.name);
    for (const Verb& verb : verbs()) known.push_back(verb.name);
    std::string near = base::nearest(topic, known);
    return {.what = base::format("there is no help on '{}'", topic),
            .advice = near.empty() ? "agent-sandbox help lists verbs and topics"
                                   : base::format("did you mean agent-sandbox help {}?", near),
            .exit_code = base::ExitCode::usage};
}

int manual(const Invocation& call) {
    base::Result<std::string> part =
        manual_part(call.arguments.words.empty() ? "" : call.arguments.words.front());
    return part ? call.output.result(*part) : call.output.fail(part.error());
}

}  // namespace

int help_verb(const Invocation& call) {
    Paper paper{call.output.colours_results(), call.output.width_of_results()};
    const Arguments& arguments = call.arguments;
    if (arguments.has_own("--reference")) return call.output.result(config::reference_page());
    if (arguments.has_own("--manual")) return manual(call);

    // `why --help` and `help why` print the same page.
    std::string topic;
    if (arguments.wants_help && arguments.verb != "help") {
        topic = arguments.verb;
    } else if (!arguments.words.empty()) {
        topic = arguments.words.front();
    }
    if (topic.empty()) return call.output.result(main_page(paper));
    if (topic == "backends") return call.output.result(backends_page());
    if (topic == "settings") return call.output.result(settings_page(paper));
    if (std::string_view text = topic_text(topic); !text.empty())
        return call.output.result(topic_page(text, paper.is_coloured));
    if (const Verb* verb = find_verb(topic); verb && !verb->is_hidden)
        return call.output.result(verb_page(*verb, paper));
    return call.output.fail(no_help_on(topic));
}

}  // namespace cli
