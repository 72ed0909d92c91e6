// SPDX-License-Identifier: MIT
// Theory of operation. For added probes there are two processes: the supervisor of the session, and this one,
// which is the client of `exec`. Two pipes connect it with the session's own command:
//
//   client                           own command
//   waits for the first byte   ←     writes it when it runs
//   adds the probes, waits
//   closes its end             →     reads the end of the file, and ends; the session ends with it
//
// If the session can't be started, its supervisor writes the reason into the first pipe. If the client is
// killed, the kernel kills the supervisor, and the jail with it.
#include "selftest/jailed_probes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/file.h"
#include "session/control/exec_client.h"
#include "session/control/known_sessions.h"

namespace selftest {
namespace {

constexpr char kRuns = '+';
// The command runs a moment before its supervisor has read that.
constexpr int kMostTries = 500;
constexpr std::chrono::milliseconds kBetweenTries{10};

[[noreturn]] void give_up(const base::Error& error) {
    (void)base::write_all(STDOUT_FILENO, error.line());
    ::_exit(error.may_pass ? kMayPass : static_cast<int>(base::ExitCode::jail_failed));
}

struct Pipe {
    base::Fd from, to;
};

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) give_up(base::system_error("make a pipe", errno));
    return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

base::Result<session::AddedEnding> add(const session::SessionOptions& options,
                                       const std::vector<std::string>& probes) {
    const session::AddedCall call{
        .command = probes, .environment = {}, .directory = {}, .wants_streams = true};
    for (int tries = 1;; ++tries) {
        base::Result<session::Known> known = session::find_among(
            session::known_sessions({options.runtime_place}, session::DeadSessions::skip), options.session);
        if (!known) return known.error();
        base::Result<session::AddedEnding> ending = session::exec_in_session(*known, call);
        if (ending || !ending.error().may_pass || tries == kMostTries) return ending;
        std::this_thread::sleep_for(kBetweenTries);
    }
}

int status_of(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : session::kSignalBase + WTERMSIG(status);
}

}  // namespace

void become_session(const Jail& jail, const session::SessionOptions& options) {
    base::Result<session::Ending> ending = session::run(jail.plan, jail.facts, options);
    if (!ending) give_up(ending.error());
    ::_exit(ending->exit_code);
}

void become_client_of_session(const Jail& jail, const session::SessionOptions& options,
                              const std::vector<std::string>& probes) {
    Pipe life = make_pipe(), start = make_pipe();
    const pid_t client = ::getpid();
    const pid_t supervisor = ::fork();
    if (supervisor < 0) give_up(base::system_error("start the session", errno));
    if (supervisor == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != client) ::_exit(0);
        ::dup2(life.from.get(), STDIN_FILENO);
        ::dup2(start.to.get(), STDOUT_FILENO);
        life.to.reset();
        become_session(jail, options);
    }
    life.from.reset();
    start.to.reset();
    char first = 0;
    const bool has_word = ::read(start.from.get(), &first, 1) == 1;
    if (!has_word || first != kRuns) {
        base::Result<std::string> rest = base::read_descriptor(start.from.get());
        if (has_word && rest) (void)base::write_all(STDOUT_FILENO, first + *rest);
        ::_exit(status_of(supervisor));
    }
    base::Result<session::AddedEnding> ending = add(options, probes);
    life.to.reset();
    const int status = status_of(supervisor);
    if (!ending) give_up(ending.error());
    ::_exit(ending->exit_code != 0 ? ending->exit_code : status);
}

int run_waiting() {
    if (!base::write_all(STDOUT_FILENO, std::string_view(&kRuns, 1))) return 1;
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) continue;
    return 0;
}

}  // namespace selftest
