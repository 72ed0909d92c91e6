// SPDX-License-Identifier: MIT
#include "selftest/attempts/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/text.h"
#include "selftest/role.h"
#include "session/session.h"

namespace selftest {
namespace {

constexpr int kLongestSilence = 30'000;  // milliseconds
constexpr size_t kMostText = 1u << 20;
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

base::Error interrupted(int signal) {
    return {.what = "ended by signal " + std::to_string(signal),
            .exit_code = static_cast<base::ExitCode>(128 + signal)};
}

// Kills a child that was started here, and waits for it.
class Child {
  public:
    explicit Child(pid_t process) : process_(process) {}
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The wait status of a child that exits by itself.
    int wait() {
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
        process_ = -1;
        return status;
    }

  private:
    void end() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        wait();
    }
    pid_t process_;
};

// Like a command that a user starts: a session with a terminal, standard input from it, results to the pipe.
void settle_in(const Planted& planted, int results, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::setsid();
    ::ioctl(planted.terminal(), TIOCSCTTY, 0);
    ::dup2(planted.terminal(), STDIN_FILENO);
    ::dup2(results, STDOUT_FILENO);
    ::dup2(planted.terminal(), STDERR_FILENO);
    (void)!::chdir(planted.world().project.c_str());
    planted.leave_descriptors_open();
}

}  // namespace

base::Result<std::string> Launcher::run_outside(const Planted& planted,
                                                const std::vector<std::string>& words) {
    return collect(planted, [&] { execute_part(words, planted.environment()); });
}

base::Result<std::string> Launcher::run_inside(const Planted& planted, const Jail& jail) {
    return collect(planted, [&] {
        // Several jails start within a second, so each needs its own session ID for its record.
        session::SessionOptions options{.state_directory = jail.state_directory,
                                        .session = "selftest-" + std::to_string(::getpid())};
        base::Result<session::Ending> ending = session::run(jail.plan, jail.facts, options);
        if (ending) ::_exit(ending->exit_code);
        // Print to standard output, because the probes have not used it.
        (void)base::write_all(STDOUT_FILENO, ending.error().line());
        ::_exit(static_cast<int>(base::ExitCode::jail_failed));
    });
}

base::Result<std::string> Launcher::collect(const Planted& planted, const std::function<void()>& become) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd from(ends[0]), to(ends[1]);
    pid_t parent = ::getpid();
    pid_t process = ::fork();
    if (process < 0) return base::system_error("start the probes", errno);
    if (process == 0) {
        inner::apply_signals(signals_.before());
        settle_in(planted, to.get(), parent);
        become();
        ::_exit(static_cast<int>(base::ExitCode::jail_failed));
    }
    to.reset();
    Child child(process);
    std::string text;
    if (base::Status heard = listen(from.get(), text); !heard) return heard.error();
    int status = child.wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    if (!text.starts_with('{') && !text.empty()) {
        return base::Error{.what = base::printable(text),
                           .advice = "'agent-sandbox doctor' says what this machine can do"};
    }
    return base::Error{.what = "the probes ended before they were done"};
}

base::Status Launcher::listen(int from, std::string& text) {
    struct pollfd watched[] = {{from, POLLIN, 0}, {signals_.events(), POLLIN, 0}};
    for (;;) {
        int ready = ::poll(watched, 2, kLongestSilence);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return base::Error{.what = "the probes fell silent"};
        struct signalfd_siginfo information;
        while (::read(signals_.events(), &information, sizeof information) > 0) {
            int signal = static_cast<int>(information.ssi_signo);
            if (std::ranges::find(kEnding, signal) != std::end(kEnding)) return interrupted(signal);
        }
        if (!watched[0].revents) continue;
        char bytes[4096];
        ssize_t got = ::read(from, bytes, sizeof bytes);
        if (got == 0) return base::success();
        if (got > 0) text.append(bytes, static_cast<size_t>(got));
        if (text.size() > kMostText) return base::Error{.what = "the probes say too much"};
    }
}

}  // namespace selftest
