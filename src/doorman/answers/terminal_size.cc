// SPDX-License-Identifier: MIT
// Theory of operation. The kernel can't tell a resize by the terminal emulator from one by the command: both
// set the same numbers and send the same signal. So the command's own are refused. The device number of a
// descriptor does not identify the terminal: /dev/tty is a different one in each session, and numbers of
// pseudo-terminals are unique only within one devpts, of which the jail has its own. But a process may read
// the session id of its controlling terminal and of no other terminal (TIOCGSID). This process is in the
// session of the terminal that it protects.
#include "doorman/answers/terminal_size.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>

namespace doorman {
namespace {

bool is_size(const struct winsize& one, const struct winsize& other) {
    return one.ws_row == other.ws_row && one.ws_col == other.ws_col && one.ws_xpixel == other.ws_xpixel &&
           one.ws_ypixel == other.ws_ypixel;
}

// Threat: with a file of a FUSE file system, this process would wait for the FUSE server of the jail. These
// flags send no request to the file system.
bool is_device(int descriptor) {
    struct statx status = {};
    int returned =
        ::statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &status);
    return returned == 0 && S_ISCHR(status.stx_mode);
}

// TIOCGSID on a master works for every session. Only the terminal emulator has the master of our terminal.
bool is_master(int terminal) {
    unsigned number = 0;
    return ::ioctl(terminal, TIOCGPTN, &number) == 0;
}

bool is_our_own(int terminal) {
    pid_t session = 0;
    return !is_master(terminal) && ::ioctl(terminal, TIOCGSID, &session) == 0;
}

}  // namespace

Answer answer_terminal_size(const Caller& caller) {
    base::Fd terminal;
    if (int number = caller.take_descriptor(caller.number(0), terminal); number != 0)
        return Answer::of(number);
    struct winsize wanted = {}, current = {};
    if (!is_device(terminal.get())) return Answer::of(ENOTTY);
    if (::ioctl(terminal.get(), TIOCGWINSZ, &current) != 0) return Answer::of(errno);
    if (int number = caller.read_memory(caller.argument(2), &wanted, sizeof wanted); number != 0)
        return Answer::of(number);
    if (!caller.is_waiting()) return Answer::of(EINTR);
    // Some programs set the current size again; readline does so before each line.
    if (is_size(wanted, current)) return Answer::of(0);
    if (is_our_own(terminal.get())) return Answer::of(EPERM);
    return Answer::of(::ioctl(terminal.get(), TIOCSWINSZ, &wanted) == 0 ? 0 : errno);
}

}  // namespace doorman
