// SPDX-License-Identifier: MIT
// A pidfd refers to one process for good, even if its number is used again. It is readable when the process
// has ended.
#pragma once

#include <sys/types.h>

#include "base/file.h"

namespace base {

// Negative, with the value minus errno, if it can't be opened. Before Linux 5.3 there are no pidfds (ENOSYS).
Fd open_pidfd(pid_t process);

bool send_signal(const Fd& pidfd, int signal);

}  // namespace base
