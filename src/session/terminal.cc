// SPDX-License-Identifier: MIT
#include "session/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace session {

Terminal::Terminal() : fd_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    is_given_ = is_ours() && ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
}

bool Terminal::is_ours() const {
    return fd_ && ::tcgetpgrp(fd_.get()) == ::getpgrp();
}

void Terminal::take_back() {
    if (!is_given_) return;
    is_given_ = false;
    // From the background this asks for SIGTTOU, which the supervisor blocks (HeldSignals): then the kernel
    // lets it pass.
    ::tcsetpgrp(fd_.get(), ::getpgrp());
}

}  // namespace session
