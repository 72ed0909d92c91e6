// SPDX-License-Identifier: MIT
// ioctl(TIOCSWINSZ): refused for the session's own terminal, executed for every other terminal.
#pragma once

#include "doorman/caller.h"

namespace doorman {

Answer answer_terminal_size(const Caller& caller);

}  // namespace doorman
