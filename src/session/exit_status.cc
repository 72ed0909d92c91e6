// SPDX-License-Identifier: MIT
#include "session/exit_status.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "backends/bubblewrap/launch.h"
#include "base/text.h"
#include "network/netns/set_up.h"
#include "plan/system/limits.h"
#include "session/helpers/backends.h"

namespace session {
namespace {

constexpr int kTimeIsOver = 124;  // as timeout(1) does

base::Error execute_error(const inner::Report& failure) {
    std::string name = base::format("'{}'", base::printable(failure.object));
    if (failure.step == inner::kStepInterpreter) {
        return base::Error{
            .what = base::format(
                "cannot start {}: the interpreter or loader that it names is not in the jail", name),
            .advice = "let the jail show it, for instance with --ro",
            .exit_code = base::ExitCode::not_found};
    }
    if (failure.number == ENOENT || failure.number == ENOTDIR) {
        return base::Error{.what = base::format("the command {} was not found in the jail", name),
                           .advice = "if it exists outside, 'agent-sandbox why path' says why it is hidden",
                           .exit_code = base::ExitCode::not_found};
    }
    base::Error error = base::system_error(base::format("start {} in the jail", name), failure.number);
    error.advice = "check that it is an executable file";
    error.exit_code = base::ExitCode::not_executable;
    return error;
}

}  // namespace

base::Error start_error(const inner::Report& failure) {
    if (failure.step == inner::kStepStart && failure.number == EOPNOTSUPP) {
        return base::Error{.what =
                               "the session can't start a further command: the kernel has no Landlock, "
                               "which guards it until its filters are installed",
                           .advice = "start the session with --backend native or bwrap"};
    }
    if (failure.step == inner::kStepExecute || failure.step == inner::kStepInterpreter)
        return execute_error(failure);
    std::string object = base::printable(failure.object);
    if (failure.step == inner::kStepCheck && failure.number == EEXIST) {
        return base::Error{
            .what = base::format("the backend left {} as the host has it; nothing was run", object),
            .advice = "use another backend; 'agent-sandbox doctor' says what this machine can do"};
    }
    if (failure.step == inner::kStepCheck) {
        return base::Error{.what = base::format("{} changed while the jail was built ({}); nothing was run",
                                                object, std::strerror(failure.number)),
                           .advice = "try again, and look for what writes there"};
    }
    if (failure.step == inner::kStepDirectory) {
        base::Error error = base::system_error(base::format("enter {} in the jail", object), failure.number);
        error.advice = "start from a directory that the jail shows, such as the project";
        return error;
    }
    if (failure.step == inner::kStepFilter) {
        base::Error error = base::system_error("install the filter of system calls", failure.number);
        error.advice = "a kernel with CONFIG_SECCOMP_FILTER is needed; 'agent-sandbox doctor' says more";
        return error;
    }
    if (failure.step == inner::kStepTracer) {
        base::Error error = base::system_error("trace the command", failure.number);
        error.advice =
            failure.number == EBUSY
                ? "it is started inside a jail whose system calls are answered already; trace the outer one"
                : "leave out the --trace- options; 'agent-sandbox doctor' says what this machine can do";
        return error;
    }
    if (failure.step == inner::kStepKeyring) {
        base::Error error = base::system_error("give the jail a session keyring of its own", failure.number);
        if (failure.number == EDQUOT)
            error.advice =
                "each session takes one of the keys that a user may have: end some, or let the "
                "administrator raise kernel.keys.maxkeys";
        return error;
    }
    if (failure.step == inner::kStepWall)
        return base::system_error("raise the wall of Landlock at " + object, failure.number);
    if (failure.step == inner::kStepPrivileges)
        return base::system_error("give up the caller's privileges", failure.number);
    if (failure.step == inner::kStepWarden)
        return base::system_error("start the process that ends the jail", failure.number);
    if (failure.step == inner::kStepDoorman) {
        base::Error error = base::system_error("answer system calls of the jail", failure.number);
        error.advice = failure.number == EBUSY
                           ? "something around this program answers them already; if it is started inside a "
                             "jail that is traced, start the outer one without --trace-…"
                           : "'agent-sandbox doctor' says what this machine can do";
        return error;
    }
    return base::system_error(base::format("start the command ({} {})", failure.step, object),
                              failure.number);
}

namespace {

Ending ending_by_signal(int signal, std::string reason) {
    return Ending{.exit_code = kSignalBase + signal, .by_signal = true, .reason = std::move(reason)};
}

std::string reached_text(std::string_view key, const plan::Limits& limits) {
    return plan::reached_text(plan::limit_named(key), limits);
}

Ending ending_by_limit(const plan::Limits& limits, std::string_view key) {
    bool is_time = key != "limits.memory";
    return Ending{.exit_code = is_time ? kTimeIsOver : kSignalBase + SIGKILL,
                  .by_limit = true,
                  .reason = "stopped: " + reached_text(key, limits)};
}

// The command got EAGAIN where it wanted to create a process, and continued.
std::string refusals(const plan::Limits& limits, uint64_t processes) {
    if (processes == 0) return {};
    return base::format("{}: {} {}", reached_text("limits.processes", limits), processes,
                        processes == 1 ? "process was refused" : "processes were refused");
}

base::Result<Ending> ending_without_tracer(const Outcome& outcome) {
    if (!outcome.has_started) {
        return base::Error{.what = "the command can't be traced: " + outcome.tracer_failure,
                           .advice = "leave out the --trace- options, or try again"};
    }
    Ending ending = ending_by_signal(SIGKILL, "the jail was ended: " + outcome.tracer_failure);
    ending.by_limit = true;
    return ending;
}

Ending ending_with_held_file(const std::string& file) {
    Ending ending =
        ending_by_signal(SIGKILL, base::format("the session was ended: a process inside may have kept {} "
                                               "open, which was replaced outside; check it",
                                               base::printable(file)));
    ending.by_limit = true;
    return ending;
}

Ending ending_with_planted_file(const std::string& file) {
    Ending ending =
        ending_by_signal(SIGKILL, base::format("the session was ended: a process inside made {} again and "
                                               "again, from which git outside would run programs",
                                               base::printable(file)));
    ending.by_limit = true;
    return ending;
}

}  // namespace

base::Result<Ending> conclude(const plan::Plan& plan, const Outcome& outcome) {
    if (outcome.failure) return start_error(*outcome.failure);
    if (outcome.guard_failure) return *outcome.guard_failure;
    // Report the backend's own failure first: without a jail there is no namespace to set up.
    bool is_of_network =
        !outcome.gateway_failure.empty() && outcome.gateway_failure != backends::bubblewrap::kNoJail &&
        outcome.gateway_failure != network::netns::kEndedEarly && outcome.diagnostics.empty();
    if (!outcome.may_have_run && is_of_network) {
        // A failure to publish a port already contains its advice; another network mode would not help.
        bool is_of_port = outcome.gateway_failure.find("cannot publish port ") != std::string::npos;
        return base::Error{
            .what = "the network could not be set up: " + outcome.gateway_failure,
            .advice = is_of_port ? "" : "use --network isolated, or look at 'agent-sandbox doctor'"};
    }
    if (!outcome.may_have_run) return diagnose(plan.backend, outcome.diagnostics);
    if (outcome.reached == Watch::kStop)
        return ending_by_signal(SIGTERM, "stopped, as 'agent-sandbox stop' asked");
    if (!outcome.planted_file.empty()) return ending_with_planted_file(outcome.planted_file);
    if (!outcome.held_file.empty()) return ending_with_held_file(outcome.held_file);
    if (!outcome.tracer_failure.empty() && !outcome.ending) return ending_without_tracer(outcome);
    if (!outcome.reached.empty()) return ending_by_limit(plan.limits, outcome.reached);
    std::string name = base::printable(plan.command.front());
    if (!outcome.ending) {
        std::string_view moment = outcome.has_started ? " had ended" : " had quite started";
        return ending_by_signal(SIGKILL,
                                base::format("the jail was killed from outside before {}{}", name, moment));
    }
    int number = outcome.ending->number;
    if (!outcome.ending->by_signal) {
        std::string refused = refusals(plan.limits, outcome.refused_processes);
        return Ending{.exit_code = number, .by_limit = !refused.empty(), .reason = refused};
    }
    if (number == SIGXFSZ && plan.limits.file_size.value > 0) {
        Ending ending = ending_by_signal(
            number, base::format("{} was ended: {}", name, reached_text("limits.file_size", plan.limits)));
        ending.by_limit = true;
        return ending;
    }
    return ending_by_signal(
        number, base::format("{} was ended by signal {} ({})", name, number, ::strsignal(number)));
}

int exit_code_of(const Ending& ending) {
    if (ending.by_signal && ending.exit_code == kSignalBase + SIGINT) {
        constexpr int kInterrupt[] = {SIGINT};
        sigset_t unblocked = inner::signal_set(inner::signal_bits(kInterrupt));
        std::signal(SIGINT, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
        ::raise(SIGINT);
    }
    return ending.exit_code;
}

}  // namespace session
