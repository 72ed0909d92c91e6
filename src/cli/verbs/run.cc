// SPDX-License-Identifier: MIT
// `agent-sandbox COMMAND`: plan, say in one line what will hold, run, pass the command's own status on.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/report/not_found.h"
#include "cli/report/tell_search.h"
#include "cli/sessions/digest.h"
#include "cli/slurm/jobs.h"
#include "cli/verbs.h"
#include "cli/verbs/overview.h"
#include "cli/verbs/replan.h"
#include "cli/verbs/review.h"
#include "cli/verbs/run.h"
#include "cli/version.h"
#include "host/trial.h"
#include "session/runtime_directory.h"
#include "session/session.h"

namespace cli {
namespace {

base::Status check_arguments(const Arguments& arguments) {
    if (arguments.words.empty()) {
        const auto& [flag, value] = arguments.last_taken;
        std::string taken =
            flag.empty() ? ""
                         : base::format(": '{}' was taken as the value of {}", base::printable(value), flag);
        return base::Error{
            .what = "no command to run" + taken,
            .advice = "usage: agent-sandbox [OPTIONS] COMMAND [ARGUMENTS], for instance: agent-sandbox bash"};
    }
    if (arguments.wants_json) {
        return base::Error{.what = "--json has no meaning for a run",
                           .advice = "add --dry-run to print the jail as data"};
    }
    return base::success();
}

void announce(const Output& output, const Planned& planned) {
    for (const std::string& warning : planned.settings.effective.warnings) output.warning(warning);
    for (const plan::Note& note : planned.plan.notes) {
        switch (note.kind) {
            case plan::NoteKind::information:
                output.detail(note.text);
                break;
            case plan::NoteKind::protection:
                output.protection(note.text);
                break;
        }
    }
    output.information(start_line(planned.plan, planned.facts.identity.home));
}

// Names that were replaced outside and were uncovered for a moment. Not shown: a removed placeholder, which
// left nothing to check, and a file of root's, which the jail could not change.
void tell_uncovered(const Output& output, const std::vector<backends::Uncovered>& uncovered,
                    const base::Path& home) {
    constexpr size_t kMostTold = 5;
    size_t found = 0;
    for (const backends::Uncovered& one : uncovered) {
        if (::access(one.path.c_str(), W_OK) != 0 || ++found > kMostTold) continue;
        output.protection(
            base::format("{} was replaced outside while the session ran, and was open inside {}: check it",
                         base::printable(shortened(one.path, home)),
                         one.is_covered_again ? "for a moment" : "from then on"));
    }
    if (found > kMostTold)
        output.protection(
            base::format("{} more files were open inside for a moment; 'agent-sandbox log' names them",
                         found - kMostTold));
}

// What was refused, each with what would allow it. The record is read again only where something was.
void tell_refusals(const Output& output, const session::Ending& ending, const Planned& planned) {
    if (!ending.unrecorded.empty()) output.protection("this session is not recorded: " + ending.unrecorded);
    if (ending.lost_lines > 0)
        output.protection(base::format("{} lines of the record could not be written", ending.lost_lines));
    tell_uncovered(output, ending.uncovered, planned.facts.identity.home);
    if (!ending.lost_reports.empty())
        output.protection(
            base::format("the process that covers protected files again {}: check the files that were "
                         "replaced outside while the session ran",
                         ending.lost_reports));
    tell_search(output, ending.search, planned);
    if (ending.has_lost_network) output.protection(std::string(session::kLostNetwork));
    bool has_refusals = ending.network.refused > 0 || ending.refused_mails > 0 ||
                        planned.plan.network.egress.rules.is_observing || ending.trace.files > 0 ||
                        ending.trace.system_calls > 0 || ending.has_used_slurm;
    if (!has_refusals || ending.record.empty()) return;
    tell_digest(output,
                {.record = ending.record,
                 .state_directory = planned.settings.workspace.files.state_directory,
                 .directories = {.home = planned.facts.identity.home,
                                 .project = planned.plan.project,
                                 .admin_directory = planned.settings.workspace.files.admin_directory}});
}

}  // namespace

base::Result<std::string> make_session_id() {
    unsigned char bytes[16];
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
        return base::system_error("get random bytes for the session's id", errno);
    }
    std::string id;
    for (unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        id += digits;
    }
    return id;
}

namespace {

// Only a launch can find out that an outer filter or a security module blocks user namespaces, for this
// program or for all. Nothing has run then. If the choice of the backend is ours, take the next one and
// report it. If a trial succeeds, the plan itself failed: report its error unchanged.
std::optional<BackendFailure> failure_of_backend(const Planned& planned, const Caller& caller) {
    bool is_choice = !planned.settings.policy.isolation.backend;
    if (!is_choice) return std::nullopt;
    for (const host::BackendTrial& trial : host::backend_trials()) {
        bool is_known = std::ranges::count(caller.failures, trial.backend, &BackendFailure::backend) > 0;
        if (trial.backend != planned.plan.backend || is_known) continue;
        if (std::optional<std::string> reason = trial.failure())
            return BackendFailure{trial.backend, *std::move(reason)};
    }
    return std::nullopt;
}

// What is done with the ending while the plan is still there.
using OnEnding = void (*)(const session::Ending&);

void go_on(const session::Ending& /*ending*/) {}

// Exits without destructors: freeing the plan costs more than some commands.
void leave(const session::Ending& ending) {
    int code = session::exit_code_of(ending);
    std::fflush(nullptr);
    ::_exit(code);
}

session::SessionOptions session_options_of(const Invocation& call, const Planned& planned,
                                           const std::string& session) {
    const std::string& state = planned.settings.workspace.files.state_directory;
    std::optional<std::string_view> runtime = host::variable(call.caller.environment, "XDG_RUNTIME_DIR");
    const auto& audit = planned.settings.policy.audit;
    bool is_required = planned.settings.effective.origin("audit.enabled").layer == config::Layer::admin;
    std::string taken;
    std::string place =
        session::make_runtime_place(session::runtime_places(runtime.value_or(""), state), &taken);
    if (!taken.empty())
        call.output.protection(base::format("{} is not a directory of yours with mode 0700; {}", taken,
                                            place.empty() ? "'agent-sandbox ps' will not list this session"
                                                          : "the session's directory is below " + place));
    return {.state_directory = state,
            .session = session,
            .runtime_place = std::move(place),
            .record = {.is_wanted = audit.enabled,
                       .is_required = is_required,
                       .is_chained = audit.chain,
                       .size = audit.size,
                       .keep = static_cast<std::time_t>(audit.keep)},
            .version = std::string(version()),
            .job = planned.facts.slurm_job.id,
            .replan = replan_of(call, session, planned),
            .namespaces = call.caller.job_namespaces,
            .socket_namespaces = call.caller.job_socket_namespaces};
}

Ran attempt(const Invocation& call, const std::string& session, OnEnding on_ending) {
    const Arguments& arguments = call.arguments;
    base::Result<Planned> planned = make_plan(call.caller, arguments, session, arguments.words);
    if (!planned) return {call.output.fail(planned.error()), {}};
    call.output.set_quiet(planned->settings.policy.ui.quiet);
    call.output.set_verbose(planned->settings.policy.ui.verbose);
    announce(call.output, *planned);

    session::SessionOptions options = session_options_of(call, *planned, session);
    if (planned->plan.slurm.is_open) options.jobs = jobs_of(*planned, call.caller, arguments, session);
    EndReview review;
    base::Result<session::Ending> ending = session::run(planned->plan, planned->facts, options);
    if (!ending) {
        bool was_built = ending.error().exit_code != base::ExitCode::jail_failed;
        std::optional<BackendFailure> failure =
            was_built ? std::nullopt : failure_of_backend(*planned, call.caller);
        if (failure) {
            Caller caller = call.caller;
            caller.failures.push_back(*std::move(failure));
            return attempt({caller, arguments, call.output}, session, on_ending);
        }
        return {call.output.fail(with_hint(ending.error(), *planned, call.caller)), {}};
    }
    if (ending->by_limit) {
        call.output.protection(ending->reason);
    } else if (!ending->reason.empty() && !call.caller.job) {
        // Slurm itself says how a job ended.
        call.output.warning(ending->reason);
    }
    tell_refusals(call.output, *ending, *planned);
    review.tell(call.output, call.caller, planned->plan, planned->settings.workspace);
    on_ending(*ending);
    return {ending->exit_code, *ending};
}

Ran run_until(const Invocation& call, OnEnding on_ending) {
    if (base::Status understood = check_arguments(call.arguments); !understood)
        return {call.output.fail(understood.error()), {}};
    base::Result<std::string> session = make_session_id();
    if (!session) return {call.output.fail(session.error()), {}};
    return attempt(call, *session, on_ending);
}

}  // namespace

Ran run_command(const Invocation& call) {
    return run_until(call, go_on);
}

int run_verb(const Invocation& call) {
    if (call.arguments.is_dry_run) return plan_verb(call);
    return run_until(call, leave).exit_code;
}

}  // namespace cli
