// SPDX-License-Identifier: MIT
#include "slurm/client/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace slurm::client {

std::optional<channel::Window> Terminal::window() {
    if (!::isatty(STDIN_FILENO)) return std::nullopt;
    struct winsize size = {};
    ::ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    return channel::Window{size.ws_row, size.ws_col};
}

void Terminal::make_raw() {
    struct termios settings;
    if (before_ || ::tcgetattr(STDIN_FILENO, &settings) != 0) return;
    before_ = settings;
    ::cfmakeraw(&settings);
    // TCSANOW, because waiting for the output to drain would never end after Ctrl-S.
    ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

void Terminal::restore() {
    if (!before_) return;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
    before_.reset();
}

void Terminal::make_raw_again() {
    if (!before_) return;
    before_.reset();
    make_raw();
}

}  // namespace slurm::client
