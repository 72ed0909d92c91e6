// SPDX-License-Identifier: MIT
#include "session/conclude.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "backends/bubblewrap/diagnose.h"
#include "base/text.h"

namespace session {
namespace {

constexpr int kSignalBase = 128;

base::Error execute_error(const inner::Report& failure) {
    std::string name = "'" + base::printable(failure.object) + "'";
    if (failure.step == inner::kStepInterpreter) {
        return base::Error{
            .what = "cannot start " + name + ": the interpreter or loader that it names is not in the jail",
            .advice = "let the jail show it, for instance with --ro",
            .exit_code = base::ExitCode::not_found};
    }
    if (failure.number == ENOENT || failure.number == ENOTDIR) {
        return base::Error{.what = "the command " + name + " was not found in the jail",
                           .advice = "if it exists outside, 'agent-sandbox why path' says why it is hidden",
                           .exit_code = base::ExitCode::not_found};
    }
    base::Error error = base::system_error("start " + name + " in the jail", failure.number);
    error.advice = "check that it is an executable file";
    error.exit_code = base::ExitCode::not_executable;
    return error;
}

base::Error failure_error(const inner::Report& failure) {
    if (failure.step == inner::kStepExecute || failure.step == inner::kStepInterpreter)
        return execute_error(failure);
    std::string object = base::printable(failure.object);
    if (failure.step == inner::kStepCheck) {
        return base::Error{.what = object + " changed while the jail was built (" +
                                   std::strerror(failure.number) + "); nothing was run",
                           .advice = "try again, and look for what writes there"};
    }
    if (failure.step == inner::kStepDirectory) {
        base::Error error = base::system_error("enter " + object + " in the jail", failure.number);
        error.advice = "start from a directory that the jail shows, such as the project";
        return error;
    }
    if (failure.step == inner::kStepFilter) {
        base::Error error = base::system_error("install the filter of system calls", failure.number);
        error.advice = "a kernel with CONFIG_SECCOMP_FILTER is needed; 'agent-sandbox doctor' says more";
        return error;
    }
    if (failure.step == inner::kStepKeyring)
        return base::system_error("give the jail a session keyring of its own", failure.number);
    if (failure.step == inner::kStepWall)
        return base::system_error("raise the second wall (Landlock) at " + object, failure.number);
    return base::system_error("start the command (" + failure.step + " " + object + ")", failure.number);
}

Ending ending_by_signal(int signal, std::string reason) {
    return Ending{.exit_code = kSignalBase + signal, .by_signal = true, .reason = std::move(reason)};
}

}  // namespace

base::Result<Ending> conclude(const std::vector<std::string>& command, const Outcome& outcome) {
    if (outcome.failure) return failure_error(*outcome.failure);
    if (!outcome.may_have_run) return backends::bubblewrap::diagnose(outcome.diagnostics);
    std::string name = base::printable(command.front());
    if (!outcome.ending) {
        std::string_view moment = outcome.has_started ? " had ended" : " had quite started";
        return ending_by_signal(SIGKILL,
                                "the jail was killed from outside before " + name + std::string(moment));
    }
    int number = outcome.ending->number;
    if (!outcome.ending->by_signal) return Ending{.exit_code = number, .landlock_abi = outcome.landlock_abi};
    return ending_by_signal(
        number, name + " was ended by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")");
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
