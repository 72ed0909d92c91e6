// SPDX-License-Identifier: MIT
// Theory of operation. The settings are saved each time the terminal is given away, not once at the start:
// between a stop and a continuation the caller's shell may have changed them. They are restored only while
// the terminal is ours: never under a shell that has taken it back already, or under a pager in our pipeline.
//
// The state of the screen can't be read. But a full-screen program, or one that reads single keys, turns line
// editing off, and turns it on again at its regular end. If line editing is still off at the end, the program
// was interrupted. The sequences below have no effect on a terminal that was left in order.
#include "session/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>

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

void stop_callers_job() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    ::kill(0, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    sigprocmask(SIG_BLOCK, &stop, nullptr);
}

namespace {

constexpr std::string_view kLeaveScreen =
    // Leaving the alternate screen restores the cursor that was saved when it was entered. Some terminals
    // restore it even if they are not in the alternate screen: so save it first, which the alternate screen
    // keeps apart.
    "\x1b"
    "7\x1b[?1049l"
    "\x1b[?25h"                                                // the cursor is visible
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l"  // no mouse and focus reports
    "\x1b[?1l\x1b>"                                            // normal cursor keys and keypad
    "\x1b[0m";                                                 // no colour
constexpr std::string_view kPlainPaste = "\x1b[?2004l";

bool can_draw() {
    const char* kind = std::getenv("TERM");
    return kind != nullptr && *kind != '\0' && std::strcmp(kind, "dumb") != 0;
}

}  // namespace

Terminal::Terminal() : fd_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (!fd_) return;
    void* place = ::mmap(nullptr, sizeof(Loan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
        fd_.reset();
        return;
    }
    loan_.reset(static_cast<Loan*>(place));
    loan_->lender = ::getpgrp();
    // tcgetpgrp succeeds only for the controlling terminal.
    bool is_output = ::tcgetpgrp(STDOUT_FILENO) >= 0;
    draws_on_it_ = is_output && can_draw();
    if (is_ours() && is_output && ::isatty(STDIN_FILENO)) give();
}

void Terminal::Unmap::operator()(Loan* loan) const {
    ::munmap(loan, sizeof *loan);
}

bool Terminal::is_ours() const {
    return fd_ && ::tcgetpgrp(fd_.get()) == loan_->lender;
}

void Terminal::give() {
    ::tcgetattr(fd_.get(), &loan_->settings);
    note_mode();
    loan_->is_given = true;
}

// The descriptor is /dev/tty, whose own mode is not the device's.
void Terminal::note_mode() {
    struct stat status;
    bool is_known = ::ttyname_r(STDIN_FILENO, loan_->device, sizeof loan_->device) == 0 &&
                    ::lstat(loan_->device, &status) == 0 && S_ISCHR(status.st_mode) &&
                    status.st_uid == ::geteuid();
    if (!is_known) loan_->device[0] = '\0';
    loan_->number = is_known ? status.st_rdev : 0;
    loan_->mode = is_known ? status.st_mode & 07777 : 0;
}

// Threat: the command owns the terminal's device as the caller does. With fchmod on it the command could let
// other users read what is typed there from then on (tests/jail/terminal.bats).
void Terminal::restore_mode() const {
    struct stat status;
    if (loan_->device[0] == '\0' || ::lstat(loan_->device, &status) != 0) return;
    bool is_changed =
        S_ISCHR(status.st_mode) && status.st_rdev == loan_->number && (status.st_mode & 07777) != loan_->mode;
    if (is_changed) (void)!::chmod(loan_->device, loan_->mode);
}

void Terminal::take_back() {
    if (!is_given()) return;
    loan_->is_given = false;
    // From the background this call raises SIGTTOU. The supervisor blocks that signal (HeldSignals), and then
    // the kernel permits the call.
    ::tcsetpgrp(fd_.get(), loan_->lender);
}

void Terminal::recover() {
    if (!is_given()) return;
    restore_mode();
    take_back();
    if (!is_ours()) return;
    const bool was_raw = is_raw();
    start_output();
    restore_settings();
    if (was_raw) reset_screen(false);
    // If a command set exclusive mode (TIOCEXCL), no other process could open the terminal
    // (tests/jail/terminal.bats).
    ::ioctl(fd_.get(), TIOCNXCL);
}

void Terminal::recover_for_the_dead() {
    if (!is_given()) return;
    restore_mode();
    if (!is_abandoned()) {
        // The caller's shell has the terminal again and has set its modes, but does not reset the screen.
        start_output();
        reset_screen(true);
        return;
    }
    recover();
}

// No process is left in the foreground group, which was the command's.
bool Terminal::is_abandoned() const {
    pid_t foreground = ::tcgetpgrp(fd_.get());
    return foreground > 0 && ::kill(-foreground, 0) != 0 && errno == ESRCH;
}

bool Terminal::is_raw() const {
    struct termios now;
    if (::tcgetattr(fd_.get(), &now) != 0) return false;
    return (loan_->settings.c_lflag & ICANON) && !(now.c_lflag & ICANON);
}

// Threat: a command that stopped the output (tcflow) would leave a terminal that shows nothing, and our own
// write to it would never end (tests/jail/terminal.bats).
void Terminal::start_output() const {
    ::tcflow(fd_.get(), TCOON);
}

void Terminal::restore_settings() const {
    // At once: waiting for the output to drain would never end after Ctrl-S.
    ::tcsetattr(fd_.get(), TCSANOW, &loan_->settings);
}

void Terminal::reset_screen(bool someone_else_reads) const {
    if (!draws_on_it_) return;
    (void)base::write_all(fd_.get(), kLeaveScreen);
    // A shell that waits for a line has turned bracketed paste on again.
    if (!someone_else_reads) (void)base::write_all(fd_.get(), kPlainPaste);
}

}  // namespace session
