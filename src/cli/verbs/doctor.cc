// SPDX-License-Identifier: MIT
// `doctor` and `selftest`: what this machine can enforce, and whether it does.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/backend.h"
#include "cli/arguments.h"
#include "cli/broker.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/report/doctor_report.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "cli/verbs/run.h"
#include "config/layer.h"
#include "doorman/doorman.h"
#include "host/remedies.h"
#include "host/trial.h"
#include "selftest/judgement.h"
#include "selftest/selftest.h"

namespace cli {

// `doctor`: prints what this machine can enforce and how to fix the rest. It reads files and makes trials in
// short-lived children; it changes nothing.

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

// `selftest`: runs the built-in escape attempts in real jails on this machine and reports which were stopped.
// It uses the built-in settings under the administrator's ceiling, because a path that the user's own files
// open is not an escape.

namespace {

// The only settings that the self-test accepts; all others would change what it tests.
constexpr std::string_view kTaken[] = {"isolation.backend", "ui.quiet", "ui.verbose"};

base::Status check_selftest_arguments(const Arguments& arguments) {
    for (const auto& [key, value] : arguments.settings) {
        bool is_taken = std::ranges::find(kTaken, key) != std::end(kTaken);
        if (is_taken) continue;
        return base::Error{
            .what = value.origin.describe() + " has no meaning for selftest",
            .advice = "it tests the standard jail and chooses the settings of the others itself",
            .exit_code = base::ExitCode::usage};
    }
    return base::success();
}

// Candidates for the scratch directories: near the user's own projects first, then directories writable by
// everyone.
std::vector<std::string> candidates(const Invocation& call) {
    if (call.arguments.project) return {*call.arguments.project};
    std::vector<std::string> places;
    auto add = [&](std::string_view variable, std::string_view below) {
        std::optional<std::string_view> value = host::variable(call.caller.environment, variable);
        if (value && value->starts_with('/')) places.push_back(std::string(*value) + std::string(below));
    };
    add("XDG_CACHE_HOME", "");
    add("HOME", "/.cache");
    add("HOME", "");
    add("TMPDIR", "");
    places.insert(places.end(), {"/var/tmp", "/tmp"});
    return places;
}

// The caller has only the planted environment and home directory.
base::Result<selftest::Jail> plan_jail(const Invocation& call, const selftest::JailRequest& request) {
    // The source of a credential is read while the jail runs.
    struct Launch {
        Caller caller;
        Arguments arguments;
        std::optional<Planned> planned;
    };
    auto launch = std::make_shared<Launch>();
    Caller& caller = launch->caller;
    caller.environment = request.environment;
    caller.has_planted_home = true;
    caller.working_directory = request.project;
    // A launch would find this by failing; try it here, so that the test uses the same backend as a launch.
    if (std::optional<std::string> failure = host::try_native())
        caller.failures.push_back({base::Backend::native, *std::move(failure)});
    // A filter around this process is bubblewrap's as well; a security module may have a profile for it.
    std::optional<std::string> refusal = host::is_filtered() ? host::try_user_namespace() : std::nullopt;
    if (refusal) caller.failures.push_back({base::Backend::bwrap, *std::move(refusal)});
    Arguments& arguments = launch->arguments;
    arguments.project = request.project.str();
    arguments.settings = call.arguments.settings;
    for (const selftest::Change& change : request.changes) {
        base::Status added = config::add_text(arguments.settings, *config::find_setting(change.key),
                                              change.value, config::from_flag("selftest"));
        if (!added) return added.error();
    }
    base::Result<std::string> session = make_session_id();
    if (!session) return session.error();
    base::Result<Planned> planned = make_plan(caller, arguments, *session, request.command);
    if (!planned) return planned.error();
    launch->planned = *std::move(planned);
    session::BrokerOptions broker = broker_options(caller, arguments, *launch->planned);
    if (broker.fetch) broker.fetch = [launch, fetch = broker.fetch](size_t number) { return fetch(number); };
    return selftest::Jail{launch->planned->plan,
                          launch->planned->facts,
                          launch->planned->settings.effective,
                          launch->planned->settings.workspace.files.state_directory,
                          *std::move(session),
                          std::move(broker)};
}

int list(const Invocation& call) {
    base::Result<std::vector<const selftest::Probe*>> probes = selftest::select_probes(call.arguments.words);
    if (!probes) return call.output.fail(probes.error());
    // Also those that only run if they are named.
    if (call.arguments.words.empty()) {
        probes->clear();
        for (const selftest::Probe& probe : selftest::all_probes()) probes->push_back(&probe);
    }
    if (call.arguments.wants_json) return call.output.result(selftest::list_json(*probes).dump() + "\n");
    return call.output.result(selftest::list_text(*probes, call.output.colours_results()));
}

}  // namespace

int selftest_verb(const Invocation& call) {
    if (base::Status understood = check_selftest_arguments(call.arguments); !understood)
        return call.output.fail(understood.error());
    if (call.arguments.has_own("--list")) return list(call);
    selftest::Options options{.asked = call.arguments.words,
                              .is_through_exec = call.arguments.has_own("--through-exec"),
                              .candidates = candidates(call)};
    if (call.arguments.has_own("--in-home")) {
        options.home = host::variable(call.caller.environment, "HOME").value_or("");
        options.candidates = {"/var/tmp", "/tmp"};
    }
    const std::string_view home = host::variable(call.caller.environment, "HOME").value_or("");
    options.users_home = home.ends_with('/') ? home.substr(0, home.size() - 1) : home;
    options.tell = [&](std::string_view line) { call.output.warning(line); };
    auto make_jail = [&](const selftest::JailRequest& request) { return plan_jail(call, request); };
    base::Result<std::vector<selftest::Judgement>> judgements = selftest::run(options, make_jail);
    if (!judgements) return call.output.fail(judgements.error());

    bool is_sound = selftest::is_sound(selftest::add_up(*judgements));
    int exit_code = is_sound ? 0 : kFailed;
    if (call.arguments.wants_json) {
        return call.output.result(selftest::to_json(*judgements).dump() + "\n", exit_code);
    }
    return call.output.result(selftest::to_text(*judgements, call.output.colours_results()), exit_code);
}

}  // namespace cli
