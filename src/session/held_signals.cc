// SPDX-License-Identifier: MIT
#include "session/held_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <span>

namespace session {
namespace {

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGTSTP};
constexpr int kOurs[] = {SIGCHLD, SIGCONT};
// Blocked and not read: using the terminal from the background must not stop us, and a write to a closed pipe
// or to a record at its size limit (ulimit -f) must not kill us.
constexpr int kUnwanted[] = {SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};

}  // namespace

HeldSignals::HeldSignals() : before_(inner::current_signals()) {
    uint64_t read = inner::signal_bits(kPassedOn) | inner::signal_bits(kOurs);
    sigset_t readable = inner::signal_set(read);
    sigset_t blocked = inner::signal_set(read | inner::signal_bits(kUnwanted) | before_.blocked);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
    // An ignored SIGCHLD, inherited from the caller, would make the kernel reap our child.
    std::signal(SIGCHLD, SIG_DFL);
    events_ = base::Fd(::signalfd(-1, &readable, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() {
    // Drain signals still pending for the command that just exited.
    struct signalfd_siginfo information;
    while (::read(events_.get(), &information, sizeof information) > 0) continue;
    // Also drain signals of our own failed writes; their errors are handled already.
    sigset_t unwanted = inner::signal_set(inner::signal_bits(kUnwanted));
    struct timespec now = {};
    while (sigtimedwait(&unwanted, nullptr, &now) > 0) continue;
    if (before_.ignored & inner::signal_bits(std::span(&kOurs[0], 1))) std::signal(SIGCHLD, SIG_IGN);
    sigset_t blocked = inner::signal_set(before_.blocked);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace session
