// SPDX-License-Identifier: MIT
#include "cli/report/doctor_report.h"

#include <algorithm>

#include "base/backend.h"
#include "base/table.h"
#include "base/text.h"

namespace cli {
namespace {

using base::Json;
using base::printable;
using base::Style;
using policy::Level;

Style style_of(host::Severity severity) {
    switch (severity) {
        case host::Severity::good:
            return Style::green;
        case host::Severity::warning:
            return Style::yellow;
        case host::Severity::bad:
            return Style::red;
    }
    return Style::plain;
}

Style style_of(Level level) {
    switch (level) {
        case Level::hidden:
        case Level::denied:
            return Style::green;
        case Level::cooperative:
            return Style::yellow;
        case Level::absent:
            return Style::red;
    }
    return Style::plain;
}

std::string heading(std::string_view text, bool is_coloured) {
    return base::format("\n{}\n", base::styled(text, Style::bold, is_coloured));
}

std::string modes_text(const plan::Outlook& outlook) {
    std::vector<std::string> names;
    for (policy::NetworkMode mode : outlook.modes) names.emplace_back(policy::to_text(mode));
    return base::join(names, ", ");
}

std::string findings_text(const Examination& examination, bool is_coloured) {
    base::Table table;
    for (const host::Finding& finding : examination.findings) {
        table.add({{std::string(host::to_text(finding.severity)), style_of(finding.severity)},
                   {finding.name},
                   {printable(finding.detail)}});
    }
    return table.text(0, is_coloured);
}

std::string backends_text(const Examination& examination, bool is_coloured) {
    base::Table table;
    for (const plan::Outlook& outlook : examination.outlooks) {
        std::string state = outlook.obstacle ? "not here: " + plan::without_remedy(*outlook.obstacle)
                            : &outlook == examination.chosen() ? "taken"
                                                               : "works";
        std::string modes = outlook.obstacle ? "" : "network: " + modes_text(outlook);
        table.add({{std::string(outlook.backend->name())},
                   {printable(state), outlook.obstacle ? Style::red : Style::green},
                   {modes}});
    }
    return heading("Backends, the best first", is_coloured) + table.text(2, is_coloured);
}

std::string levels_text(const Examination& examination, bool is_coloured) {
    base::Table table;
    std::vector<base::Cell> first{{"control"}};
    for (const plan::Outlook& outlook : examination.outlooks)
        first.push_back({std::string(outlook.backend->name())});
    table.add(std::move(first));
    const auto& best = examination.outlooks.front();
    for (size_t row = 0; row < best.controls.size(); ++row) {
        std::vector<base::Cell> cells{{std::string(best.controls[row].control)}};
        for (const plan::Outlook& outlook : examination.outlooks) {
            Level level = outlook.controls[row].level;
            bool is_here = !outlook.obstacle;
            cells.push_back({is_here ? std::string(policy::to_text(level)) : "-",
                             is_here ? style_of(level) : Style::dim});
        }
        table.add(std::move(cells));
    }
    return heading("How far each control reaches", is_coloured) + table.text(2, is_coloured);
}

// Only for the backend that a launch uses; the table lists what other backends lack.
std::string weaknesses_text(const Examination& examination, bool is_coloured) {
    const plan::Outlook* chosen = examination.chosen();
    if (chosen == nullptr) return "";
    base::Table table;
    for (const plan::Reached& reached : chosen->controls) {
        bool has_gateway = reached.control != "network" ||
                           std::ranges::count(chosen->modes, policy::NetworkMode::filtered) > 0;
        bool is_lesser = reached.level < plan::control_row(reached.control).best || !has_gateway;
        if (is_lesser) table.add({{std::string(reached.control)}, {printable(reached.detail)}});
    }
    if (table.is_empty()) return "";
    std::string title = base::format("What is weaker with {} here", chosen->backend->title);
    return heading(title, is_coloured) + table.text(2, is_coloured);
}

std::string fixes_text(const Examination& examination, bool is_coloured) {
    std::string text;
    for (const host::Finding& finding : examination.findings) {
        if (finding.fix.empty()) continue;
        text += heading("To mend " + finding.name, is_coloured);
        for (std::string_view line : base::split(base::trim(finding.fix), '\n'))
            text += line.empty() ? "\n" : base::format("  {}\n", printable(line));
    }
    return text;
}

std::string summary_text(const Examination& examination, bool is_coloured) {
    bool is_kept_by_settings = !examination.has_settings && examination.chosen() != nullptr &&
                               examination.facts.nested_in != "agent-sandbox";
    if (is_kept_by_settings) {
        return base::format(
            "\n{}\n", base::styled("A jail could be built here; the configuration keeps it from starting.",
                                   Style::red, is_coloured));
    }
    if (!examination.is_usable()) {
        return base::format("\n{}\n", base::styled("No jail can be built here.", Style::red, is_coloured));
    }
    const plan::BackendTraits& taken = *examination.chosen()->backend;
    bool is_lesser = plan::is_lesser(taken);
    std::string text =
        base::format("A jail can be built here, by {}{}", taken.title,
                     is_lesser ? "; it is weaker than one by agent-sandbox itself or bubblewrap." : ".");
    return base::format("\n{}\n", base::styled(text, !is_lesser ? Style::green : Style::yellow, is_coloured));
}

Json json_of(const plan::Outlook& outlook, bool is_chosen) {
    Json modes = Json::array();
    for (policy::NetworkMode mode : outlook.modes) modes.push(std::string(policy::to_text(mode)));
    Json controls = Json::array();
    for (const plan::Reached& reached : outlook.controls) {
        controls.push(Json::object()
                          .set("control", std::string(reached.control))
                          .set("level", std::string(policy::to_text(reached.level)))
                          .set("detail", reached.detail));
    }
    return Json::object()
        .set("name", std::string(outlook.backend->name()))
        .set("usable", !outlook.obstacle.has_value())
        .set("chosen", is_chosen)
        .set("obstacle", outlook.obstacle ? Json(*outlook.obstacle) : Json())
        .set("network", std::move(modes))
        .set("controls", std::move(controls));
}

}  // namespace

const plan::Outlook* Examination::chosen() const {
    auto pinned = std::ranges::find_if(outlooks, [&](const plan::Outlook& outlook) {
        return is_bwrap_pinned && outlook.backend->id == base::Backend::bwrap;
    });
    if (pinned != outlooks.end()) {
        if (!pinned->obstacle) return &*pinned;
        // If the pinned bubblewrap cannot be executed, a launch does not fall back to another backend.
        if (facts.bwrap.state != host::ProgramState::usable) return nullptr;
    }
    auto found =
        std::ranges::find_if(outlooks, [](const plan::Outlook& outlook) { return !outlook.obstacle; });
    return found == outlooks.end() ? nullptr : &*found;
}

Examination examine(const host::Facts& facts, const host::Trials& trials) {
    Examination examination{.facts = facts, .findings = host::diagnose(facts, trials)};
    host::take_in(trials, examination.facts);
    examination.outlooks = plan::outlooks(examination.facts);
    return examination;
}

std::string report_text(const Examination& examination, bool is_coloured) {
    return findings_text(examination, is_coloured) + backends_text(examination, is_coloured) +
           levels_text(examination, is_coloured) + weaknesses_text(examination, is_coloured) +
           fixes_text(examination, is_coloured) + summary_text(examination, is_coloured);
}

Json report_json(const Examination& examination) {
    Json findings = Json::array();
    for (const host::Finding& finding : examination.findings) findings.push(host::to_json(finding));
    Json backends = Json::array();
    for (const plan::Outlook& outlook : examination.outlooks)
        backends.push(json_of(outlook, &outlook == examination.chosen()));
    return Json::object()
        .set("usable", examination.is_usable())
        .set("findings", std::move(findings))
        .set("backends", std::move(backends))
        .set("facts", host::to_json(examination.facts));
}

}  // namespace cli
