// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

namespace tracer {

// How a process ended that is not our child, as wait(2) would report it: until its parent has reaped it, and
// afterwards on Linux 6.15 and later.
std::optional<int> kept_status(pid_t process, int pidfd);

}  // namespace tracer
