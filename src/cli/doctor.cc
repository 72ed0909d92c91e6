// SPDX-License-Identifier: MIT
// `doctor`: what this machine can enforce and what to do about the rest.
#include "host/doctor.h"

#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "plan/plan.h"

namespace cli {
namespace {

using base::Json;
using base::printable;
using base::Style;

Style style_of(host::Verdict verdict) {
    switch (verdict) {
        case host::Verdict::good:
            return Style::green;
        case host::Verdict::warning:
            return Style::yellow;
        case host::Verdict::bad:
            return Style::red;
    }
    return Style::plain;
}

// Broken settings are one more finding: the machine is examined all the same.
host::Finding settings_finding(const base::Result<Settings>& settings) {
    if (settings) return {"configuration", host::Verdict::good, "can be read", ""};
    const base::Error& error = settings.error();
    std::string detail = error.where.empty() ? error.what : error.where + ": " + error.what;
    return {"configuration", host::Verdict::bad, detail, error.advice};
}

std::string fix_text(const host::Finding& finding) {
    std::string text;
    for (std::string_view line : base::split(finding.fix, '\n')) text += "      " + printable(line) + "\n";
    return text;
}

std::string findings_text(const std::vector<host::Finding>& findings, bool is_coloured) {
    base::Table table;
    for (const host::Finding& finding : findings) {
        table.add({{std::string(host::to_text(finding.verdict)), style_of(finding.verdict)},
                   {finding.name},
                   {printable(finding.detail)}});
    }
    std::string text = table.text(0, is_coloured);
    for (const host::Finding& finding : findings) {
        if (finding.fix.empty()) continue;
        text += "\n" + base::styled("To mend " + finding.name, Style::bold, is_coloured) + "\n" +
                fix_text(finding);
    }
    return text;
}

std::string summary(bool can_start, bool is_coloured) {
    std::string_view text = can_start ? "A jail can be built here." : "No jail can be built here.";
    return "\n" + base::styled(text, can_start ? Style::green : Style::red, is_coloured) + "\n";
}

}  // namespace

int doctor_verb(const Invocation& call) {
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    std::optional<base::Path> pinned;
    if (settings) pinned = settings->policy.isolation.bwrap;
    base::Result<host::Facts> facts = host::probe(call.caller.disk, call.caller.environment, pinned);
    if (!facts) return call.output.fail(facts.error());
    host::probe_details(*facts);

    std::vector<host::Finding> findings = host::diagnose(*facts, host::run_trials(*facts));
    bool can_start = settings.ok() && host::can_jail(findings);
    findings.push_back(settings_finding(settings));
    int exit_code = can_start ? 0 : static_cast<int>(base::ExitCode::check_failed);

    if (call.arguments.wants_json) {
        Json list = Json::array();
        for (const host::Finding& finding : findings) list.push(host::to_json(finding));
        Json report = Json::object()
                          .set("usable", can_start)
                          .set("findings", std::move(list))
                          .set("facts", host::to_json(*facts));
        return call.output.result(report.dump() + "\n", exit_code);
    }
    bool is_coloured = call.output.colours_results();
    return call.output.result(findings_text(findings, is_coloured) + summary(can_start, is_coloured),
                              exit_code);
}

}  // namespace cli
