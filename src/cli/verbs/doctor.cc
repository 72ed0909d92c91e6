// SPDX-License-Identifier: MIT
// `doctor`: prints what this machine can enforce and how to fix the rest. It reads files and makes trials in
// short-lived children; it changes nothing.
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/report/doctor_report.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "doorman/doorman.h"
#include "host/remedies.h"

namespace cli {
namespace {

// Broken settings are one more finding; doctor examines the machine anyway.
host::Finding settings_finding(const base::Result<Settings>& settings) {
    if (settings) return {"configuration", host::Severity::good, "can be read", ""};
    const base::Error& error = settings.error();
    std::string detail = error.where.empty() ? error.what : error.where + ": " + error.what;
    return {"configuration", host::Severity::bad, detail, error.advice};
}

int print_note(const Invocation& call, const host::Facts& facts) {
    std::string note = host::admin_note(facts);
    return call.output.result(note.empty() ? "There is nothing to ask an administrator for.\n" : note);
}

}  // namespace

int doctor_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "doctor takes no word");
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    std::optional<base::Path> bwrap, firejail;
    if (settings) {
        bwrap = settings->policy.isolation.bwrap;
        firejail = settings->policy.isolation.firejail;
    }
    base::Result<host::Facts> facts = host::probe(call.caller.disk, call.caller.environment);
    if (!facts) return call.output.fail(facts.error());
    host::probe_bwrap(call.caller.disk, bwrap, *facts);
    host::probe_details(*facts);
    host::probe_others(call.caller.disk, firejail, *facts);
    facts->can_answer_calls = doorman::is_possible();

    Examination examination = examine(*facts, host::run_trials(*facts));
    examination.has_settings = settings.ok();
    examination.is_bwrap_pinned = bwrap.has_value();
    examination.findings.push_back(settings_finding(settings));
    if (call.arguments.has_own("--admin-note")) return print_note(call, examination.facts);

    int exit_code = examination.is_usable() ? 0 : kFailed;
    std::string report = call.arguments.wants_json ? report_json(examination).dump() + "\n"
                                                   : report_text(examination, call.output.colours_results());
    return call.output.result(report, exit_code);
}

}  // namespace cli
