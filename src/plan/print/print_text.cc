// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include "base/backend.h"
#include "base/table.h"
#include "base/text.h"
#include "plan/print/print.h"
#include "plan/system/limits.h"

namespace plan {
namespace {

using base::Cell;
using base::printable;
using base::Style;
using base::Table;

Style style_of(Access access) {
    switch (access) {
        case Access::hidden:
            return Style::red;
        case Access::masked:
            return Style::yellow;
        case Access::readonly:
            return Style::plain;
        case Access::writable:
            return Style::green;
    }
    return Style::plain;
}

Style style_of(policy::Level level) {
    switch (level) {
        case policy::Level::absent:
            return Style::red;
        case policy::Level::cooperative:
            return Style::yellow;
        case policy::Level::denied:
        case policy::Level::hidden:
            return Style::green;
    }
    return Style::plain;
}

Cell plain(std::string_view text) {
    return {printable(text), Style::plain};
}
Cell dim(std::string_view text) {
    return {printable(text), Style::dim};
}

std::string command_line(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        line += base::shell_word(word);
    }
    return line.empty() ? "(none)" : line;
}

std::string source_text(const Mount& mount) {
    switch (mount.kind) {
        case MountKind::bind_readonly:
        case MountKind::bind_writable:
        case MountKind::overlay:
        case MountKind::bind_device:
            return mount.source == mount.target.str() ? "" : "from " + mount.source;
        case MountKind::symlink:
            return "-> " + mount.source;
        case MountKind::file:
        case MountKind::private_file:
            return std::to_string(mount.source.size()) + " bytes";
        case MountKind::tmpfs:
        case MountKind::directory:
        case MountKind::empty_file:
        case MountKind::proc:
        case MountKind::queues:
        case MountKind::helper_socket:
        case MountKind::dev:
        case MountKind::held_link:
        case MountKind::seal:
            return {};
    }
    return {};
}

std::string network_text(const Network& network) {
    std::string text(policy::to_text(network.reached));
    if (network.asked != network.reached)
        text += base::format(" (asked: {})", policy::to_text(network.asked));
    return text;
}

std::string trace_text(const seccomp::Trace& trace) {
    std::vector<std::string> parts;
    if (trace.files) parts.emplace_back("files that are closed to it");
    if (trace.commands) parts.emplace_back("commands");
    if (trace.system_calls) parts.emplace_back("refused system calls");
    return base::join(parts, ", ");
}

Table summary(const Plan& plan) {
    Table table;
    table.add({plain("backend"), plain(base::to_text(plan.backend))});
    table.add({plain("project"), plain(plan.project.str()),
               dim(plan.project_is_writable ? "writable" : "read-only")});
    table.add({plain("command"), plain(command_line(plan.command))});
    table.add({plain("starts in"), plain(plan.working_directory.str())});
    table.add({plain("network"), plain(network_text(plan.network)), dim(plan.network.reason.why),
               dim(plan.network.reason.origin.describe())});
    if (plan.trace.is_wanted()) {
        table.add({plain("traced"), plain(trace_text(plan.trace)),
                   dim("recorded outside, while it runs; it runs slower for it")});
    }
    return table;
}

Table network_table(const Plan& plan) {
    Table table;
    for (const NetworkEntry& entry : network_entries(plan.network))
        table.add({plain(entry.setting), plain(entry.text), dim(entry.origin.describe())});
    return table;
}

// A writable directory may be discarded, and a read-only one may be empty.
std::string access_text(const PathRule& rule) {
    std::string text(to_text(rule.access));
    if (rule.backing == Backing::ephemeral && rule.access == Access::writable) text += ", discarded";
    if (rule.backing == Backing::ephemeral && rule.access == Access::readonly) text += ", empty";
    return text;
}

Table rules_table(const Plan& plan) {
    Table table;
    for (const PathRule& rule : plan.rules) {
        table.add({{access_text(rule), style_of(rule.access)},
                   plain(rule.path.str()),
                   dim(rule.reason.why),
                   dim(rule.reason.origin.describe())});
    }
    return table;
}

Table grants_table(const Plan& plan) {
    Table table;
    for (const Grant& grant : plan.grants) {
        table.add({plain(to_text(grant.kind)), plain(grant.path.str()), dim(grant.reason.why),
                   dim(grant.reason.origin.describe())});
    }
    return table;
}

Table mounts_table(const Plan& plan) {
    Table table;
    for (const Mount& mount : plan.mounts) {
        table.add({plain(to_text(mount.kind)), plain(mount.target.str()), plain(source_text(mount)),
                   dim(mount.reason.why)});
    }
    return table;
}

template <typename T>
Table paths_table(const std::vector<T>& items) {
    Table table;
    for (const T& item : items) {
        table.add({plain(item.path.str()), dim(item.reason.why), dim(item.reason.origin.describe())});
    }
    return table;
}

Table unheld_table(const std::vector<UnheldName>& names) {
    std::vector<UnheldName> missing;
    std::ranges::copy_if(names, std::back_inserter(missing),
                         [](const UnheldName& name) { return name.first_missing.has_value(); });
    return paths_table(missing);
}

template <typename T>
Table variables_table(const std::vector<T>& variables) {
    Table table;
    for (const T& variable : variables) {
        table.add({plain(variable.name), dim(variable.reason.why), dim(variable.reason.origin.describe())});
    }
    return table;
}

Table limits_table(const Plan& plan) {
    Table table;
    for (const NamedLimit& named : named_limits()) {
        const policy::Limit& limit = plan.limits.*named.field;
        if (limit.value == 0) continue;
        table.add({plain(named.key), plain(limit_text(named, plan.limits)), dim(named.meaning),
                   dim(limit.origin.describe())});
    }
    return table;
}

Table controls_table(const Plan& plan) {
    Table table;
    for (const Control& control : plan.controls) {
        table.add({plain(control.name),
                   {std::string(policy::to_text(control.level)), style_of(control.level)},
                   dim(control.detail)});
    }
    return table;
}

Table notes_table(const Plan& plan) {
    Table table;
    for (const Note& note : plan.notes) {
        Style style = note.kind == NoteKind::protection ? Style::yellow : Style::plain;
        table.add({{printable(note.text), style}});
    }
    return table;
}

std::string counted(std::string_view title, size_t count) {
    return base::format("{} ({})", title, count);
}

// Omits a section without content.
std::string section(std::string_view title, const Table& table, bool is_coloured) {
    if (table.is_empty()) return {};
    return base::format("\n{}\n{}", base::styled(title, Style::bold, is_coloured),
                        table.text(2, is_coloured));
}

}  // namespace

std::string to_text(const Plan& plan, bool is_coloured) {
    const Environment& environment = plan.environment;
    auto part = [&](std::string_view title, const Table& table) {
        return section(title, table, is_coloured);
    };
    return summary(plan).text(0, is_coloured) +
           part("Files: the most specific path decides, what no line shows is hidden", rules_table(plan)) +
           part("Mounts, in their order", mounts_table(plan)) +
           part("Granted, each with all below it", grants_table(plan)) +
           part("Names held by something empty while the jail runs", paths_table(plan.placeholders)) +
           part("Names that are moved out of the project at the end, if they appear",
                unheld_table(plan.unheld_names)) +
           part("Directories made where they are missing", paths_table(plan.new_directories)) +
           part(counted("Variables passed", environment.passed.size()), variables_table(environment.passed)) +
           part(counted("Variables held back", environment.removed.size()),
                variables_table(environment.removed)) +
           part("Network: what differs from the mode", network_table(plan)) +
           part("Limits, and what happens when one is reached", limits_table(plan)) +
           part("Controls and the level they reach", controls_table(plan)) + part("Notes", notes_table(plan));
}

}  // namespace plan
