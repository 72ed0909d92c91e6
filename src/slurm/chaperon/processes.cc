// SPDX-License-Identifier: MIT
#include "slurm/chaperon/processes.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/process/descriptors.h"
#include "seccomp/allow_list.h"

namespace slurm::chaperon {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

void reset_signals() {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Places them at 0, 1 and 2. The sources are above 2, because these three are open in the chaperon.
bool place_standard_descriptors(const Launch& launch) {
    const int sources[] = {launch.input, launch.output, launch.errors};
    for (int target = 0; target < 3; ++target) {
        int source = sources[target];
        if (source < 0) source = ::open("/dev/null", (target == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
        if (source < 0 || ::dup2(source, target) < 0) return false;
    }
    return true;
}

void execute(const Launch& launch, char** arguments, char** environment) {
    ::syscall(SYS_execveat, launch.program, "", arguments, environment, AT_EMPTY_PATH);
    if (errno != ENOENT) return;
    // A script of the site: its interpreter opens it by the descriptor's path, so the descriptor must stay
    // open.
    ::fcntl(launch.program, F_SETFD, 0);
    ::syscall(SYS_execveat, launch.program, "", arguments, environment, AT_EMPTY_PATH);
}

// A site may have replaced the command with a script, which starts the real command by its name.
bool is_script(int program) {
    base::Fd file(::open(("/proc/self/fd/" + std::to_string(program)).c_str(), O_RDONLY | O_CLOEXEC));
    char first[2];
    return file && ::read(file.get(), first, 2) == 2 && first[0] == '#' && first[1] == '!';
}

// In the new process. Returns only on failure, with errno set.
void become(const Launch& launch, pid_t parent, char** arguments, char** environment) {
    if (launch.has_terminal) {
        if (::setsid() < 0 || ::ioctl(launch.input, TIOCSCTTY, 0) < 0) return;
    } else {
        ::setpgid(0, 0);
    }
    if (!place_standard_descriptors(launch)) return;
    base::inherit_only({});
    if (::chdir(launch.directory.c_str()) != 0) return;
    reset_signals();
    ::prctl(PR_SET_PDEATHSIG, launch.death_signal);
    if (::getppid() != parent) ::_exit(1);
    // Threat: srun starts programs on request in the protocol of MPI's process managers ("spawn"). Test:
    // tests/slurm/attacks.bats, "a rank starts nothing outside through its process manager".
    if (launch.starts_nothing && !is_script(launch.program)) {
        errno = seccomp::forbid_execution_by_name();
        if (errno != 0) return;
    }
    execute(launch, arguments, environment);
}

}  // namespace

base::Result<pid_t> start(const Launch& launch) {
    auto report = make_pipe(true);
    if (!report) return report.error();
    std::vector<std::string> words = {launch.name};
    words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
    std::vector<char*> arguments = pointers_to(words);
    std::vector<char*> environment = pointers_to(launch.environment);

    const pid_t parent = ::getpid();
    pid_t child = ::fork();
    if (child < 0) return base::system_error("cannot start " + launch.name, errno);
    if (child == 0) {
        become(launch, parent, arguments.data(), environment.data());
        int number = errno;
        (void)!::write(report->write.get(), &number, sizeof number);
        ::_exit(127);
    }
    report->write.reset();
    ::fcntl(report->read.get(), F_SETFL, 0);
    int number = 0;
    ssize_t count;
    do {
        count = ::read(report->read.get(), &number, sizeof number);
    } while (count < 0 && errno == EINTR);
    if (count == 0) return child;
    ::waitpid(child, nullptr, 0);
    return base::system_error("cannot run " + launch.name, number);
}

int death_signal_of(std::string_view client) {
    if (client == "salloc") return SIGHUP;
    return client == "srun" ? SIGTERM : SIGKILL;
}

base::Result<Pipe> make_pipe(bool ours_is_read) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("cannot make a pipe", errno);
    Pipe pipe{base::Fd(ends[0]), base::Fd(ends[1])};
    ::fcntl(ours_is_read ? ends[0] : ends[1], F_SETFL, O_NONBLOCK);
    return pipe;
}

base::Result<PseudoTerminal> make_terminal(channel::Window size) {
    base::Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    char name[64];
    if (!master || ::unlockpt(master.get()) != 0 || ::ptsname_r(master.get(), name, sizeof name) != 0)
        return base::system_error("cannot make a pseudo-terminal", errno);
    base::Fd slave(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!slave) return base::system_error("cannot open a pseudo-terminal", errno);
    resize_terminal(master.get(), size);
    return PseudoTerminal{std::move(master), std::move(slave)};
}

void resize_terminal(int master, channel::Window size) {
    struct winsize window = {};
    window.ws_row = size.rows;
    window.ws_col = size.columns;
    ::ioctl(master, TIOCSWINSZ, &window);
}

base::Result<base::Fd> watch_children() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    base::Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) return base::system_error("cannot watch child processes", errno);
    return fd;
}

void forget_child_signals(int fd) {
    struct signalfd_siginfo event;
    while (::read(fd, &event, sizeof event) == static_cast<ssize_t>(sizeof event)) {
    }
}

Ending ending_of(int wait_status) {
    if (WIFSIGNALED(wait_status)) return {.status = WTERMSIG(wait_status), .by_signal = true};
    return {.status = WEXITSTATUS(wait_status), .by_signal = false};
}

// Theory of operation. Output is read only while the connection has few bytes waiting. So a slow reader in
// the jail slows the command down as a pipe would, and no output accumulates here. When the command has
// ended, all of its output is already in the pipes. They are read until they are empty, not until they are
// closed, because a process that it left behind may keep them open for ever. A terminal delivers its bytes
// with a delay, so there the end of file is awaited for a moment.

namespace {

constexpr std::chrono::milliseconds kLastBytes{1000};
constexpr char kEndOfFile = 4;  // Ctrl-D

}  // namespace

base::Status Exchange::start(Launch launch, bool has_input, std::optional<channel::Window> terminal) {
    Pipe input, output, errors;
    PseudoTerminal pseudo;
    if (terminal) {
        auto made = make_terminal(*terminal);
        if (!made) return made.error();
        pseudo = std::move(*made);
        launch.input = launch.output = launch.errors = pseudo.slave.get();
        launch.has_terminal = has_terminal_ = true;
    } else {
        for (auto [pipe, ours_is_read] : {std::pair(&output, true), {&errors, true}, {&input, false}}) {
            if (pipe == &input && !has_input) continue;
            auto made = make_pipe(ours_is_read);
            if (!made) return made.error();
            *pipe = std::move(*made);
        }
        launch.input = input.read.get();
        launch.output = output.write.get();
        launch.errors = errors.write.get();
    }
    dismissal_ = launch.death_signal == SIGKILL ? SIGTERM : launch.death_signal;
    auto child = chaperon::start(launch);
    if (!child) return child.error();
    child_ = *child;
    if (terminal) {
        input_ = base::Fd(::fcntl(pseudo.master.get(), F_DUPFD_CLOEXEC, 3));
        output_ = std::move(pseudo.master);
    } else {
        input_ = std::move(input.write);
        output_ = std::move(output.read);
        errors_ = std::move(errors.read);
    }
    return base::success();
}

void Exchange::register_sources(base::EventLoop& loop) {
    loop.add(base::Stream{[this] { return connection_.awaited(); },
                          [this](short events) {
                              connection_.attend(events);
                              if (on_news) on_news();
                          }});
    loop.add(base::Stream{[this] {
                              return pollfd{source.empty() ? -1 : input_.get(), POLLOUT, 0};
                          },
                          [this](short) { write_input(); }});
    auto unless_congested = [this](const base::Fd& fd) { return connection_.is_congested() ? -1 : fd.get(); };
    loop.add({[=, this] { return unless_congested(output_); }, [this] { read_from(output_, on_output); }});
    loop.add({[=, this] { return unless_congested(errors_); }, [this] { read_from(errors_, on_errors); }});
    // Last: a pipe that is empty after the end stays empty, so the next turn reads the rest.
    loop.add({[this] { return ending_ ? -1 : children_; }, [this] { reap(); }});
}

void Exchange::read_rest() {
    if (!has_terminal_) read_from(output_, on_output);
    read_from(errors_, on_errors);
}

Ending Exchange::run() {
    base::EventLoop loop;
    register_sources(loop);
    for (;;) {
        if (connection_.is_gone() && !is_dismissed_) dismiss();
        finish_input();
        if (ending_ && is_drained()) return *ending_;

        // After the command has ended, its bytes are available without waiting.
        const bool has_rest = ending_ && !connection_.is_congested();
        const int patience = has_rest && !has_terminal_ ? 0 : milliseconds_to_wait();
        loop.turn(std::chrono::milliseconds(patience));
        if (has_rest) read_rest();
        act_in_time();
    }
}

void Exchange::signal(int number) const {
    if (!ending_) ::kill(child_, number);
}

void Exchange::resize(channel::Window size) const {
    if (has_terminal_ && output_) resize_terminal(output_.get(), size);
}

void Exchange::dismiss() {
    if (is_dismissed_ || ending_) return;
    is_dismissed_ = true;
    signal(dismissal_);
    signal(SIGCONT);
    deadline_ = Clock::now() + grace_;
}

void Exchange::reap() {
    forget_child_signals(children_);
    int status = 0;
    if (ending_ || ::waitpid(child_, &status, WNOHANG) != child_) return;
    ending_ = ending_of(status);
    deadline_.reset();
    if (has_terminal_) deadline_ = Clock::now() + kLastBytes;
    input_.reset();
}

void Exchange::write_input() {
    ssize_t count = ::write(input_.get(), source.data(), source.size());
    if (count < 0) {
        // The command reads no more input.
        if (errno != EINTR && errno != EAGAIN) input_.reset();
        return;
    }
    source.erase(0, static_cast<size_t>(count));
    if (on_written) on_written(static_cast<size_t>(count));
}

void Exchange::finish_input() {
    if (!is_source_over || !source.empty() || !input_) return;
    // A terminal has no end of file: send the character that stands for it.
    if (has_terminal_) (void)!::write(input_.get(), &kEndOfFile, 1);
    input_.reset();
}

void Exchange::read_from(base::Fd& fd, const std::function<void(std::string_view)>& sink) {
    if (!fd) return;
    char bytes[channel::kMaximumPayload];
    ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
    if (count > 0) return sink({bytes, static_cast<size_t>(count)});
    if (count < 0 && errno == EINTR) return;
    if (count < 0 && errno == EAGAIN && !(ending_ && !has_terminal_)) return;
    fd.reset();
}

int Exchange::milliseconds_to_wait() const {
    if (!deadline_) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
    return static_cast<int>(std::max<long>(0, left.count()));
}

void Exchange::act_in_time() {
    if (!deadline_ || Clock::now() < *deadline_) return;
    if (ending_) {
        // A slow reader has not received the last bytes yet.
        if (connection_.is_congested())
            deadline_ = Clock::now() + kLastBytes;
        else
            output_.reset();
        return;
    }
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    deadline_ = Clock::now() + grace_;
}

}  // namespace slurm::chaperon
