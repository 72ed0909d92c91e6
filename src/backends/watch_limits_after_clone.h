// SPDX-License-Identifier: MIT
// How many inotify instances and watches a jail may have. The kernel counts those of a jail for the user who
// started it, in every user namespace up to the first one. A jail that takes all of them leaves none for the
// guards of the user's sessions, which then notice a new or replaced file only when they search again.
//
// Threat: a command takes all instances and reads a .env that is created later (tests/jail/late_names.bats).
#pragma once

namespace backends {

// Limits the user namespace of this process, which needs every capability in it and the /proc of the host.
// If that /proc has no such file or is read-only, nothing changes. Allocates nothing.
void limit_watches();

}  // namespace backends
