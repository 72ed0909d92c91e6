// SPDX-License-Identifier: MIT
// Theory of operation. Two loops of bytes, neither of which blocks the other: keys to the command's terminal,
// which takes no more than a few kilobytes that its command has not read, and output to the caller's.
//
// A guard, a fork of this process in another process group, waits until this process is dead. If it was
// killed, the guard restores the caller's terminal: of a script, whose process group still has it, or of a
// shell that has not taken it back yet.
#include "session/relayed_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/process/descriptors.h"

namespace session {
namespace {

constexpr size_t kMostTyped = 4096;
// Of a remote terminal, whose client must read its keys for the ones that detach it. What exceeds this is
// dropped, as a terminal does.
constexpr size_t kMostTypedAhead = 64u << 10;
constexpr char kInOrder = 'o';

// Restores the settings if this process's group is in the foreground. The kernel checks that: otherwise it
// sends SIGTTOU, and the call has no effect. A shell that took the terminal back has its own settings.
void restore_in_foreground(int terminal, const struct termios& settings) {
    struct sigaction interrupts = {};
    interrupts.sa_handler = [](int) {};
    ::sigaction(SIGTTOU, &interrupts, nullptr);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTTOU);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::tcsetattr(terminal, TCSANOW, &settings);
    sigprocmask(SIG_BLOCK, &one, nullptr);
}

}  // namespace

base::Status RelayedTerminal::open() {
    outer_ = base::Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!outer_ || ::unlockpt(outer_.get()) != 0) return base::system_error("make a terminal", errno);
    inner_ = base::Fd(::ioctl(outer_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!inner_) return base::system_error("open the command's end of a terminal", errno);
    if (::tcgetattr(callers_.descriptor(), &settings_) != 0)
        return base::system_error("read the settings of the terminal", errno);
    ::tcsetattr(inner_.get(), TCSANOW, &settings_);
    resize();
    return base::success();
}

base::Status RelayedTerminal::join(Remote remote) {
    if (::tcgetattr(callers_.descriptor(), &settings_) != 0)
        return base::system_error("read the settings of the terminal", errno);
    remote_ = std::move(remote);
    outer_ = std::move(remote_.stream);
    ::fcntl(outer_.get(), F_SETFL, O_NONBLOCK);
    return base::success();
}

void RelayedTerminal::resize() const {
    struct winsize size;
    if (::ioctl(callers_.descriptor(), TIOCGWINSZ, &size) != 0) return;
    is_remote() ? remote_.resize(size) : static_cast<void>(::ioctl(outer_.get(), TIOCSWINSZ, &size));
}

bool RelayedTerminal::takes_keys() const {
    return has_input_ && (is_remote() || typed_.empty());
}

base::Status RelayedTerminal::begin(base::EventLoop& loop) {
    if (base::Status started = start_guard(); !started) return started;
    has_begun_ = true;
    make_raw();
    resize();
    loop.add({[this] { return takes_keys() ? STDIN_FILENO : -1; }, [this] { take_input(); }});
    loop.add(base::Stream{[this] {
                              short events = POLLIN;
                              if (!typed_.empty()) events |= POLLOUT;
                              return pollfd{is_connected_ ? outer_.get() : -1, events, 0};
                          },
                          [this](short events) {
                              if (events & POLLOUT) put_input();
                              if ((events & (POLLIN | POLLHUP | POLLERR)) && !take_output())
                                  is_connected_ = false;
                          }});
    return base::success();
}

// It stays in the terminal's session, which it needs to restore the terminal, and outlives this process.
base::Status RelayedTerminal::start_guard() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd over(ends[0]);
    life_ = base::Fd(ends[1]);
    const pid_t job = ::getpgrp();
    guard_ = ::fork();
    if (guard_ < 0) return base::system_error("start the process that restores the terminal", errno);
    if (guard_ > 0) return base::success();
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "asb-terminal");
    base::close_others({over.get(), callers_.descriptor()});
    base::fill_standard_descriptors();
    char word = 0;
    ssize_t got = 0;
    do {
        got = ::read(over.get(), &word, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1) ::_exit(0);
    // It fails if no process of the job is left.
    if (::setpgid(0, job) == 0) restore_in_foreground(callers_.descriptor(), settings_);
    callers_.recover_for_the_dead();
    ::_exit(0);
}

void RelayedTerminal::make_raw() const {
    struct termios raw = settings_;
    ::cfmakeraw(&raw);
    ::tcsetattr(callers_.descriptor(), TCSANOW, &raw);
}

void RelayedTerminal::take_input() {
    char bytes[kMostTyped];
    ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        has_input_ = false;
        return;
    }
    const std::string_view keys(bytes, static_cast<size_t>(got));
    if (!is_remote()) {
        typed_.assign(keys);
    } else if (typed_.size() + keys.size() <= kMostTypedAhead) {
        typed_.append(remote_.filter(keys));
    } else {
        (void)remote_.filter(keys);
    }
    if (!typed_.empty()) put_input();
}

void RelayedTerminal::put_input() {
    ssize_t put = ::write(outer_.get(), typed_.data(), typed_.size());
    if (put > 0) typed_.erase(0, static_cast<size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) typed_.clear();
}

// False: no process has the other end, or nothing can be shown.
bool RelayedTerminal::take_output() {
    char bytes[65536];
    ssize_t got = ::read(outer_.get(), bytes, sizeof bytes);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    return base::write_all(STDOUT_FILENO, std::string_view(bytes, static_cast<size_t>(got))).ok();
}

// A full-screen program that was killed could not restore the screen; Terminal::recover() does then.
bool RelayedTerminal::is_left_in_order() const {
    if (is_remote()) return is_remote_in_order_;
    struct termios now;
    return ::tcgetattr(outer_.get(), &now) == 0 && (now.c_lflag & ICANON) != 0;
}

void RelayedTerminal::pause() const {
    ::tcsetattr(callers_.descriptor(), TCSANOW, &settings_);
}

void RelayedTerminal::resume() const {
    make_raw();
    resize();
}

void RelayedTerminal::finish() {
    if (!has_begun_) return;
    has_begun_ = false;
    while (is_connected_ && base::ready_events(outer_.get(), POLLIN) & POLLIN) is_connected_ = take_output();
    if (is_left_in_order()) pause();
    callers_.recover();
    outer_.reset();
    (void)!::write(life_.get(), &kInOrder, 1);
    life_.reset();
    while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace session
