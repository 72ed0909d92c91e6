// SPDX-License-Identifier: MIT
// Does what bubblewrap does for the processes that it starts, for a stage that no other program prepares.
#pragma once

namespace inner {

// Drops every capability for good, also for a caller that is root: no program that is executed from here on
// gets one back, nor the identity of another user or group. Zero or an errno.
int give_up_privileges();

}  // namespace inner
