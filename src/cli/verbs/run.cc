// SPDX-License-Identifier: MIT
// `agent-sandbox COMMAND`: plan, say in one line what will hold, run, pass the command's own status on.
#include "cli/verbs/run.h"
#include "cli/broker.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

#include "base/secret_value.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/layers/end.h"
#include "cli/output.h"
#include "cli/report/run_report.h"
#include "cli/sessions/ask_rules.h"
#include "cli/sessions/attach.h"
#include "cli/sessions/keep.h"
#include "cli/sessions/records.h"
#include "cli/slurm/jobs.h"
#include "cli/verbs.h"
#include "cli/verbs/overview.h"
#include "cli/verbs/replan.h"
#include "cli/verbs/review.h"
#include "cli/version.h"
#include "config/settings.h"
#include "host/trial.h"
#include "plan/network/network.h"
#include "plan/print/explain.h"
#include "plan/print/own_sandbox.h"
#include "plan/print/print.h"
#include "plan/print/summary.h"
#include "plan/project/git_index.h"
#include "session/control/steering.h"
#include "session/directories.h"
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

// The masked files that a commit inside would empty.
std::string line_about_tracked(const plan::Plan& plan, const host::Tree& tree) {
    constexpr size_t kMostTold = 3;
    std::vector<std::string> names = plan::tracked_masks(plan, tree);
    if (names.empty() || !plan.project_is_writable) return {};
    for (std::string& name : names) name = base::printable(name);
    const std::string first = names.front(), more = names.size() > kMostTold ? ", …" : "";
    if (names.size() > kMostTold) names.resize(kMostTold);
    return base::format(
        "masked and tracked by git: {}{}; git inside finds no content there, so 'git commit -a' would remove "
        "it; project.unmask = [\"{}\"] shows a file without secrets",
        base::join(names, ", "), more, first);
}

void announce(const Output& output, const Planned& planned, const Caller& caller) {
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
    if (std::string line = plan::line_about_own_sandbox(planned.plan); !line.empty()) output.warning(line);
    const bool asks_git = !output.is_quiet() && !caller.job && !planned.plan.search.findings.empty();
    if (std::string line = asks_git ? line_about_tracked(planned.plan, caller.disk) : ""; !line.empty())
        output.warning(line);
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

// New protected names, for tools that the user does not have.
void tell_moved(const Output& output, const std::vector<session::MovedName>& moved, const Planned& planned) {
    constexpr size_t kMostTold = 5;
    size_t told = 0;
    for (const session::MovedName& one : moved) {
        if (++told > kMostTold) break;
        const std::string name = base::printable(one.path.relative_to(planned.plan.project));
        const std::string why = base::printable(one.why);
        if (one.is_left) {
            output.protection(
                base::format("{} is new and could not be moved out of the project ({}): {}; check "
                             "it before you go on",
                             name, one.problem, why));
        } else if (!one.problem.empty()) {
            output.protection(
                base::format("{} is new and was renamed to {} ({}): {}; check it before you go on", name,
                             base::printable(one.place.name()), one.problem, why));
        } else {
            output.protection(
                base::format("{} is new and was moved out of the project: {}; 'agent-sandbox "
                             "release {}' shows it and puts it back",
                             name, why, base::shell_word(one.path.relative_to(planned.plan.project))));
        }
    }
    if (moved.size() > kMostTold)
        output.protection(
            base::format("{} more names were moved out of the project; 'agent-sandbox release' "
                         "lists them",
                         moved.size() - kMostTold));
}

// A program that reads a masked file finds it empty, and may fail in a way that does not show why.
void tell_opened_masks(const Output& output, const std::vector<std::string>& opened, const Planned& planned) {
    constexpr size_t kMostTold = 3;
    if (opened.empty()) return;
    std::vector<std::string> names;
    for (const std::string& path : opened) {
        if (names.size() == kMostTold) break;
        names.push_back(base::printable((base::Path() / path).relative_to(planned.plan.project)));
    }
    const std::string more = opened.size() > kMostTold ? ", …" : "";
    output.warning(base::format(
        "{} opened inside and showed {}: {}{}; project.unmask or --env NAME gives the "
        "command what it needs",
        base::counted(opened.size(), "masked file was", "masked files were"),
        planned.settings.policy.project.mask_with == policy::MaskWith::example ? "no secret" : "nothing",
        base::join(names, ", "), more));
}

// Programs that were refused namespaces. The start has named the command itself.
void tell_refused_programs(const Output& output, const std::vector<std::string>& programs,
                           const plan::Plan& plan) {
    constexpr size_t kMostTold = 3;
    const bool is_told = !plan::line_about_own_sandbox(plan).empty();
    size_t told = 0;
    for (const std::string& program : programs) {
        if (is_told && program == base::base_name(plan.command.front())) continue;
        if (++told <= kMostTold) output.warning(plan::refused_namespaces(program).line);
    }
    if (told > kMostTold)
        output.warning(
            base::format("{} more programs were refused namespaces; 'agent-sandbox digest' names "
                         "them",
                         told - kMostTold));
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
    tell_moved(output, ending.moved, planned);
    tell_opened_masks(output, ending.opened_masks, planned);
    tell_refused_programs(output, ending.refused_programs, planned.plan);
    if (ending.ended_commands > 0)
        output.warning(base::format("{} of 'agent-sandbox exec' ended with the session",
                                    base::counted(ending.ended_commands, "command", "commands")));
    for (const auto& [path, remotes] : ending.moved_remotes) {
        for (const std::string& remote : remotes)
            output.protection(
                base::format("{} in {} leads elsewhere now: a push outside goes there; 'git remote -v' and "
                             "'git config -l' show it",
                             base::printable(remote), base::printable(path.str())));
    }
    tell_search(output, ending.search, planned);
    if (ending.has_lost_network) output.protection(std::string(session::kLostNetwork));
    bool has_refusals = ending.network.refused > 0 || ending.refused_mails > 0 ||
                        ending.refused_settings > 0 || planned.plan.network.egress.rules.is_observing ||
                        ending.trace.files > 0 || ending.trace.system_calls > 0 || ending.has_used_slurm;
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
        if (std::optional<std::string> reason = trial.failure(planned.facts))
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
            .broker = broker_options(call.caller, call.arguments, planned),
            .replan = replan_of(call, session, planned),
            .namespaces = call.caller.job_namespaces,
            .socket_namespaces = call.caller.job_socket_namespaces,
            .layer = planned.plan.is_layered ? planned.layer : std::nullopt};
}

// Threat: the value of a credential comes in under another name (tests/transcripts/secret.bats).
std::string secret_obstacle(const policy::Policy& policy, const host::Variables& environment,
                            std::string_view name, std::string_view value) {
    for (const config::Item& pattern : policy.credentials.never_inside) {
        if (policy::matches_variable_pattern(pattern.text, name))
            return base::format("credentials.never_inside has {} ({})", base::printable(pattern.text),
                                pattern.origin.describe());
    }
    if (value.size() < base::SecretValue::kMinimum) return {};
    for (const config::Item& blocked : policy.env.block) {
        if (blocked.text != name && host::variable(environment, blocked.text) == value)
            return base::format("it has the value of {}, which stays outside ({})",
                                base::printable(blocked.text), blocked.origin.describe());
    }
    return {};
}

// A variable of a command that `exec` adds to this session.
base::Status may_be_added(const Planned& planned, const host::Variables& environment, std::string_view name,
                          std::string_view value) {
    const policy::Policy& policy = planned.settings.policy;
    if (std::string secret = secret_obstacle(policy, environment, name, value); !secret.empty())
        return base::Error{
            .what = base::format("the session does not take the variable {}: {}", name, secret),
            .advice = "use the variable that the session has, or start another session"};
    bool has_gateway = planned.plan.network.reached != policy::NetworkMode::open;
    std::string obstacle = plan::added_variable_obstacle(policy, name, value, has_gateway);
    if (obstacle.empty()) return base::success();
    return base::Error{.what = base::format("the session does not take the variable {}: {}", name, obstacle),
                       .advice = base::format("start the session with --env {}", name)};
}

enum class Guess : bool { none, private_etc };

base::Result<EarlyPlan> plan_for(const Invocation& call, const std::string& session, Guess guess) {
    const std::vector<std::string>& command = call.arguments.words;
    if (guess == Guess::private_etc) return make_early_plan(call.caller, call.arguments, session, command);
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, session, command);
    if (!planned) return planned.error();
    return EarlyPlan{*std::move(planned), false, nullptr};
}

// Nothing: private files of /etc have changed since the last launch, and the guess was wrong, or a planned
// file has changed meanwhile, such as a placeholder that the keeper of a killed session removes. No command
// ran.
std::optional<Ran> attempt(const Invocation& call, const std::string& session, OnEnding on_ending,
                           Guess guess) {
    const Arguments& arguments = call.arguments;
    base::Result<EarlyPlan> early = plan_for(call, session, guess);
    if (!early) return Ran{call.output.fail(early.error()), {}};
    const Planned* planned = &early->planned;
    call.output.set_quiet(planned->settings.policy.ui.quiet);
    call.output.set_verbose(planned->settings.policy.ui.verbose);
    if (guess == Guess::private_etc || !call.caller.failures.empty())
        announce(call.output, *planned, call.caller);
    if (planned->plan.is_layered) begin_layer(call, *planned);

    session::SessionOptions options = session_options_of(call, *planned, session);
    if (planned->plan.slurm.is_open) options.jobs = jobs_of(*planned, call.caller, arguments, session);
    options.early_child = early->child.get();
    options.may_pass = [planned, &call](std::string_view name, std::string_view value) {
        return may_be_added(*planned, call.caller.environment, name, value);
    };
    options.asks = ask_rules_of(call, session, *planned);
    bool has_changed = false;
    options.confirm = [&]() -> base::Status {
        base::Result<bool> is_true = is_still_true(*early);
        if (!is_true) return is_true.error();
        has_changed = !*is_true;
        if (!has_changed) return base::success();
        return base::Error{.what = "private files of /etc have changed: the launch begins again"};
    };
    EndReview review;
    options.detached = call.caller.detached;
    if (options.detached != nullptr) options.detached->use_own_terminal();
    base::Result<session::Ending> ending = session::run(planned->plan, planned->facts, options);
    if (options.detached != nullptr && !ending) options.detached->use_callers_terminal();
    // Nothing ran: a layer that was made for this attempt is empty.
    if (!ending && options.layer && options.layer->about.start == 0) layers::remove_layer(*options.layer);
    bool begins_again = has_changed || (!ending && ending.error().may_pass && guess != Guess::none);
    if (begins_again) return std::nullopt;
    if (!ending) {
        bool was_built = ending.error().exit_code != base::ExitCode::jail_failed;
        std::optional<BackendFailure> failure =
            was_built ? std::nullopt : failure_of_backend(*planned, call.caller);
        if (failure) {
            Caller caller = call.caller;
            caller.failures.push_back(*std::move(failure));
            return attempt({caller, arguments, call.output}, session, on_ending, Guess::none);
        }
        return Ran{call.output.fail(with_hint(ending.error(), *planned, call.caller)), {}};
    }
    if (ending->by_limit) {
        call.output.protection(ending->reason);
    } else if (!ending->reason.empty() && !call.caller.job) {
        // Slurm itself says how a job ended.
        call.output.warning(ending->reason);
    }
    tell_refusals(call.output, *ending, *planned);
    if (!call.caller.job || call.output.has_terminal()) tell_discarded(call.output, ending->discarded);
    if (planned->plan.is_layered) {
        end_layer(call, *planned);
    } else {
        review.tell(call.output, call.caller, planned->plan, planned->settings.workspace);
    }
    on_ending(*ending);
    return Ran{ending->exit_code, *ending};
}

Ran run_until(const Invocation& call, OnEnding on_ending) {
    if (base::Status understood = check_arguments(call.arguments); !understood)
        return {call.output.fail(understood.error()), {}};
    base::Result<std::string> session = make_session_id();
    if (!session) return {call.output.fail(session.error()), {}};
    std::optional<Ran> ran = attempt(call, *session, on_ending, Guess::private_etc);
    if (ran) return *ran;
    // The second attempt looks at everything anew.
    Caller again = call.caller;
    again.disk = host::DiskTree();
    session = make_session_id();
    if (!session) return {call.output.fail(session.error()), {}};
    ran = attempt({again, call.arguments, call.output}, *session, on_ending, Guess::none);
    return ran.value_or(Ran{});
}

}  // namespace

Ran run_command(const Invocation& call) {
    return run_until(call, go_on);
}

int run_verb(const Invocation& call) {
    if (call.arguments.is_dry_run) return plan_verb(call);
    if (call.arguments.detaches) {
        if (base::Status understood = check_arguments(call.arguments); !understood)
            return call.output.fail(understood.error());
        return run_detached(call, [](const Invocation& own) { return run_until(own, leave).exit_code; });
    }
    return run_until(call, leave).exit_code;
}

// `plan` and `--dry-run`: print the jail as data; no command runs.

int plan_verb(const Invocation& call) {
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, "", call.arguments.words);
    if (!planned) return call.output.fail(planned.error());
    for (const std::string& warning : planned->settings.effective.warnings) call.output.warning(warning);
    if (call.arguments.wants_json) return call.output.result(plan::to_json(planned->plan).dump() + "\n");
    return call.output.result(plan::to_text(planned->plan, call.output.colours_results()));
}

}  // namespace cli
