// SPDX-License-Identifier: MIT
// `selftest`: runs the built-in escape attempts in real jails on this machine and reports which were stopped.
// It uses the built-in settings under the administrator's ceiling, because a path that the user's own files
// open is not an escape.
#include "selftest/selftest.h"
#include "base/backend.h"

#include <algorithm>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/verbs/run.h"
#include "config/layer.h"
#include "host/trial.h"
#include "selftest/print.h"

namespace cli {
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
    Caller caller;
    caller.environment = request.environment;
    caller.has_planted_home = true;
    caller.working_directory = request.project;
    // A launch would find this by failing; try it here, so that the test uses the same backend as a launch.
    if (std::optional<std::string> failure = host::try_native())
        caller.failures.push_back({base::Backend::native, *std::move(failure)});
    Arguments arguments;
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
    std::string state = planned->settings.workspace.files.state_directory;
    return selftest::Jail{std::move(planned->plan), std::move(planned->facts),
                          std::move(planned->settings.effective), std::move(state)};
}

int list(const Invocation& call) {
    base::Result<std::vector<const selftest::Probe*>> probes = selftest::select_probes(call.arguments.words);
    if (!probes) return call.output.fail(probes.error());
    if (call.arguments.wants_json) return call.output.result(selftest::list_json(*probes).dump() + "\n");
    return call.output.result(selftest::list_text(*probes, call.output.colours_results()));
}

}  // namespace

int selftest_verb(const Invocation& call) {
    if (base::Status understood = check_selftest_arguments(call.arguments); !understood)
        return call.output.fail(understood.error());
    if (call.arguments.has_own("--list")) return list(call);
    selftest::Options options{.asked = call.arguments.words, .candidates = candidates(call)};
    if (call.arguments.has_own("--in-home")) {
        options.home = host::variable(call.caller.environment, "HOME").value_or("");
        options.candidates = {"/var/tmp", "/tmp"};
    }
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
