// SPDX-License-Identifier: MIT
#include "cli/help/topics.h"

#include <algorithm>
#include <vector>

#include "base/backend.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/backend.h"
#include "policy/policy.h"
#include "selftest/judgement.h"

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
    {"Start", "run plan why policy", "ui", "--preset --detach --dry-run --json --help --version"},
    {"Files and environment", "keep release", "project home mounts sockets env", "--project"},
    {"Copy-on-write", "layers diff apply discard checkpoint rollback", "cow", ""},
    {"Network", "", "network", ""},
    {"Credentials and requests", "secret", "credentials requests ssh", ""},
    {"Agents, modules, Slurm", "", "agents modules slurm", ""},
    {"Isolation, limits, devices", "", "isolation limits devices", "--limit"},
    {"Configuration", "config profiles trust untrust", "lock", ""},
    {"This machine", "doctor selftest", "", ""},
    {"Sessions that run",
     "ps inspect exec attach mcp stop allow block reload publish pending approve deny monitor request notify",
     "", ""},
    {"Records", "log digest slurm-log slurm-script", "audit trace", ""},
    {"About the program", "completion help version", "", ""},
};

struct Placeholder {
    std::string_view flag;
    std::string_view text;
};
// Flags whose type does not explain the value, or whose list of choices is too long for a column.
constexpr Placeholder kPlaceholders[] = {
    {"--env", "NAME[=VALUE]"}, {"--home", "MODE"},       {"--network", "MODE"}, {"--layer", "NAME"},
    {"--backend", "NAME"},     {"--require", "LEVEL"},   {"--publish", "PORT"}, {"--host-port", "PORT"},
    {"--agent", "NAME"},       {"--credential", "NAME"},
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
        case config::Type::text_list:
            return "TEXT";
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

std::vector<Detail> details_in(std::string_view lines) {
    std::vector<Detail> details;
    if (lines.empty()) return details;
    for (std::string_view line : base::split(lines, '\n')) {
        size_t gap = line.find("  ");
        bool goes_on = line.starts_with(' ');
        bool is_term = !goes_on && gap != std::string_view::npos;
        bool is_prose = !goes_on && !is_term;
        bool follows_prose = !details.empty() && details.back().term.empty();
        if (is_term) {
            details.push_back({std::string(line.substr(0, gap)), std::string(base::trim(line.substr(gap)))});
        } else if (is_prose && (!follows_prose || line.starts_with("Exit status:"))) {
            details.push_back({"", std::string(line)});
        } else if (details.empty()) {
            details.push_back({"", std::string(base::trim(line))});
        } else {
            details.back().text += base::format(" {}", base::trim(line));
        }
    }
    return details;
}

namespace {

std::string row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

std::string heading(std::vector<std::string> cells) {
    std::string text = row(cells);
    for (std::string& cell : cells) cell = "---";
    return text + row(cells);
}

std::vector<std::string> names_of_backends(std::string first) {
    std::vector<std::string> names = {std::move(first)};
    for (const plan::BackendTraits& backend : plan::backends()) names.emplace_back(backend.name());
    return names;
}

std::string levels() {
    std::string text = "## Levels\n\n" + heading(names_of_backends("control"));
    for (const plan::ControlRow& control : plan::control_rows()) {
        std::vector<std::string> cells = {std::string(control.name) + (control.is_core ? " *" : "")};
        for (const plan::BackendTraits& backend : plan::backends())
            cells.emplace_back(policy::to_text(plan::level_with(control.name, backend.id)));
        text += row(cells);
    }
    text +=
        "\nhidden: it does not exist. denied: it exists and the kernel refuses. absent: not held.\n"
        "With `isolation.require = \"auto\"` a run starts only where the controls with a * reach denied.\n\n";
    text += "What is less than with native and bwrap, and why:\n\n";
    for (const plan::Reach& reach : plan::lesser_reaches()) {
        text += base::format("* {}, {}: {}; {}\n", base::to_text(reach.backend), reach.control,
                             policy::to_text(reach.level), reach.detail);
    }
    return text;
}

std::string networks() {
    using policy::NetworkMode;
    std::string text = "\n## Network modes\n\n" + heading(names_of_backends("mode"));
    for (NetworkMode mode :
         {NetworkMode::open, NetworkMode::filtered, NetworkMode::proxied, NetworkMode::isolated}) {
        std::vector<std::string> cells = {std::string(policy::to_text(mode))};
        for (const plan::BackendTraits& backend : plan::backends()) {
            bool needs_more = mode == NetworkMode::filtered || mode == NetworkMode::proxied;
            cells.emplace_back(!needs_more || backend.id == base::Backend::native ? "yes"
                               : backend.hands_connections ? "where system calls can be answered"
                                                           : "where bubblewrap is not set-uid");
        }
        text += row(cells);
    }
    return text + "\nWhere a mode can't be had, `network.fallback` decides.\n";
}

std::string exceptions() {
    std::string text =
        "\n## What the self-test expects to get through\n\n"
        "With native and bwrap nothing, but for hosts of the kinds named here.\n\n" +
        heading({"backend", "probe", "why"});
    for (const selftest::Exception& exception : selftest::exceptions()) {
        std::string backend(base::to_text(exception.backend));
        if (exception.is_for_set_uid) backend += ", set-uid";
        if (exception.below_landlock > 0)
            backend += base::format(", Landlock before ABI {}", exception.below_landlock);
        if (exception.lack != selftest::Exception::Lack::nothing)
            backend += ", where system calls can't be answered";
        text += row({backend, base::format("`{}`", exception.probe), std::string(exception.reason)});
    }
    return text;
}

}  // namespace

std::string backends_page() {
    return levels() + networks() + exceptions();
}

}  // namespace cli
