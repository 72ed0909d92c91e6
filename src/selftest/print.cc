// SPDX-License-Identifier: MIT
#include "selftest/print.h"

#include "base/format.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"

namespace selftest {
namespace {

using base::Json;
using base::printable;
using base::Style;

Style style_of(ProbeResult result) {
    switch (result) {
        case ProbeResult::held:
            return Style::green;
        case ProbeResult::escaped:
        case ProbeResult::error:
            return Style::red;
        case ProbeResult::permitted:
        case ProbeResult::expected:
            return Style::yellow;
        case ProbeResult::not_tried:
            return Style::dim;
    }
    return Style::plain;
}

// For programs: lower case, one word.
std::string name_of(ProbeResult result) {
    std::string name = base::lower(to_text(result));
    std::ranges::replace(name, ' ', '_');
    return name;
}

std::string heading(std::string_view group, bool is_coloured) {
    return base::styled(group, Style::bold, is_coloured) + "\n";
}

void add_row(base::Table& table, const Judgement& judgement) {
    std::string remark =
        judgement.no_control.empty() ? "" : base::format("(no control: {})", printable(judgement.no_control));
    table.add({{std::string(to_text(judgement.result)), style_of(judgement.result)},
               {judgement.probe->name},
               {printable(judgement.detail)},
               {remark, Style::dim}});
}

std::string summary(const Totals& totals, bool is_coloured) {
    struct Row {
        size_t count;
        std::string_view text;
    };
    const Row kRows[] = {{totals.held, "held"},
                         {totals.escaped, "escaped"},
                         {totals.errors, "errors"},
                         {totals.permitted, "permitted by settings"},
                         {totals.expected, "known limits of the backend"},
                         {totals.not_tried, "not tried"}};
    std::vector<std::string> parts;
    for (const Row& row : kRows) {
        if (row.count > 0) parts.push_back(base::format("{} {}", row.count, row.text));
    }
    std::string line = base::join(parts, ", ");
    if (totals.without_control > 0) {
        line += base::format("; {} held without a control on this host", totals.without_control);
    }
    return base::styled(line, is_sound(totals) ? Style::green : Style::red, is_coloured) + "\n";
}

// Repeats at the end the results that need action, with their meaning.
std::string failures(const std::vector<Judgement>& judgements, bool is_coloured) {
    std::string text;
    for (const Judgement& judgement : judgements) {
        if (judgement.result != ProbeResult::escaped && judgement.result != ProbeResult::error) continue;
        text += base::format("  {} {}: a process in the jail {}: {}\n",
                             base::styled(to_text(judgement.result), Style::red, is_coloured),
                             judgement.probe->name, judgement.probe->what, printable(judgement.detail));
    }
    return text.empty() ? text : text + "\n";
}

}  // namespace

std::string to_text(const std::vector<Judgement>& judgements, bool is_coloured) {
    std::string text;
    for (std::string_view group : group_names()) {
        base::Table table;
        for (const Judgement& judgement : judgements) {
            if (judgement.probe->group() == group) add_row(table, judgement);
        }
        if (!table.is_empty()) text += heading(group, is_coloured) + table.text(2, is_coloured) + "\n";
    }
    return text + failures(judgements, is_coloured) + summary(add_up(judgements), is_coloured);
}

Json to_json(const std::vector<Judgement>& judgements) {
    Json list = Json::array();
    for (const Judgement& judgement : judgements) {
        const Probe& probe = *judgement.probe;
        Json row = Json::object()
                       .set("probe", probe.name)
                       .set("group", probe.group())
                       .set("attempt", probe.what)
                       .set("scenario", row_of(probe.scenario).name)
                       .set("verdict", name_of(judgement.result))
                       .set("detail", printable(judgement.detail));
        row.set("control",
                judgement.no_control.empty() ? Json("shown") : Json("none: " + judgement.no_control));
        list.push(std::move(row));
    }
    Totals totals = add_up(judgements);
    return Json::object()
        .set("sound", is_sound(totals))
        .set("held", totals.held)
        .set("escaped", totals.escaped)
        .set("errors", totals.errors)
        .set("permitted", totals.permitted)
        .set("expected", totals.expected)
        .set("not_tried", totals.not_tried)
        .set("without_control", totals.without_control)
        .set("probes", std::move(list));
}

std::string list_text(const std::vector<const Probe*>& probes, bool is_coloured) {
    std::string text;
    for (std::string_view group : group_names()) {
        base::Table table;
        for (const Probe* probe : probes) {
            if (probe->group() == group) table.add({{probe->name}, {probe->what}});
        }
        if (!table.is_empty()) text += heading(group, is_coloured) + table.text(2, is_coloured) + "\n";
    }
    return base::format("{}{} probes\n", text, probes.size());
}

Json list_json(const std::vector<const Probe*>& probes) {
    Json list = Json::array();
    for (const Probe* probe : probes) {
        list.push(Json::object()
                      .set("probe", probe->name)
                      .set("group", probe->group())
                      .set("attempt", probe->what)
                      .set("scenario", row_of(probe->scenario).name));
    }
    return list;
}

}  // namespace selftest
