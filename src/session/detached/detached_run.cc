// SPDX-License-Identifier: MIT
// Theory of operation. The order of the forks:
//
//   caller ─► holder ─► supervisor
//
// The holder waits for the supervisor and so has its status. A pipe leads to the caller: the supervisor
// writes "started ID" when the command runs, the holder "ended STATUS" when the supervisor has exited. The
// caller takes the first line. A supervisor that can't write its line ends the session: the caller was
// killed, and the user does not know of the session.
//
// Until the plan is made, the supervisor writes to the caller's standard error. Its standard input and output
// are the session's terminal from the start, because the plan depends on them.
#include "session/detached/detached_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/detached/holder.h"

namespace session {
namespace {

constexpr std::string_view kStarted = "started ", kEnded = "ended ";
constexpr struct winsize kUsualSize = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};

struct PseudoTerminal {
    base::Fd outer, inner;
};

// With the settings and the size of the caller's terminal, if there is one.
base::Result<PseudoTerminal> open_pair() {
    PseudoTerminal made;
    made.outer = base::Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!made.outer || ::unlockpt(made.outer.get()) != 0) return base::system_error("make a terminal", errno);
    made.inner = base::Fd(::ioctl(made.outer.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!made.inner) return base::system_error("open the session's end of a terminal", errno);
    base::Fd callers(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    struct termios settings;
    if (callers && ::tcgetattr(callers.get(), &settings) == 0)
        ::tcsetattr(made.inner.get(), TCSANOW, &settings);
    struct winsize size = kUsualSize;
    if (callers && (::ioctl(callers.get(), TIOCGWINSZ, &size) != 0 || size.ws_row == 0)) size = kUsualSize;
    ::ioctl(made.outer.get(), TIOCSWINSZ, &size);
    return made;
}

std::string line_from(int pipe) {
    std::string line;
    char byte = 0;
    while (true) {
        const ssize_t got = ::read(pipe, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || byte == '\n') return line;
        line += byte;
    }
}

// Becomes the leader of a session with this terminal.
bool take_terminal(int inner) {
    return ::setsid() >= 0 && ::ioctl(inner, TIOCSCTTY, 0) == 0 && ::dup2(inner, STDIN_FILENO) >= 0 &&
           ::dup2(inner, STDOUT_FILENO) >= 0;
}

}  // namespace

base::Result<DetachedRun::Forked> DetachedRun::fork() {
    base::Result<PseudoTerminal> terminal = open_pair();
    if (!terminal) return terminal.error();
    int ends[2], pair[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd result(ends[0]), caller(ends[1]);
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return base::system_error("make a socket", errno);
    base::Fd holder(pair[0]), supervisor(pair[1]);

    const pid_t holding = ::fork();
    if (holding < 0) return base::system_error("start the process that holds the terminal", errno);
    if (holding > 0) {
        caller.reset();
        const std::string line = line_from(result.get());
        Forked forked;
        if (line.starts_with(kStarted)) forked.session = line.substr(kStarted.size());
        if (!forked.session.empty()) return forked;
        std::optional<int> code;
        if (line.starts_with(kEnded))
            code = base::leading_number<int>(std::string_view(line).substr(kEnded.size()));
        if (!code)
            return base::Error{.what = "the process that holds the session's terminal was killed",
                               .advice = "start the session again"};
        forked.exit_code = *code;
        return forked;
    }
    result.reset();
    ::setsid();
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    ::signal(SIGCHLD, SIG_DFL);
    const pid_t process = ::fork();
    if (process != 0) {
        terminal->inner.reset();
        holder.reset();
        if (process < 0) ::_exit(static_cast<int>(base::ExitCode::jail_failed));
        hold_terminal({std::move(terminal->outer), std::move(supervisor), std::move(caller), process});
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    terminal->outer.reset();
    supervisor.reset();
    DetachedRun run;
    run.holder_ = std::move(holder);
    run.caller_ = std::move(caller);
    run.inner_ = std::move(terminal->inner);
    run.callers_error_ = base::Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!take_terminal(run.inner_.get())) return base::system_error("take the session's terminal", errno);
    Forked forked;
    forked.supervisor = std::move(run);
    return forked;
}

void DetachedRun::use_own_terminal() {
    ::dup2(inner_.get(), STDERR_FILENO);
}

void DetachedRun::use_callers_terminal() {
    if (callers_error_) ::dup2(callers_error_.get(), STDERR_FILENO);
}

bool DetachedRun::report_started(std::string_view session) {
    callers_error_.reset();
    inner_.reset();
    const std::string line = base::format("{}{}\n", kStarted, session);
    const base::Status written = base::write_all(caller_.get(), line);
    caller_.reset();
    return written.ok();
}

}  // namespace session
