// SPDX-License-Identifier: MIT
// What bubblewrap does for the processes that it starts, for a stage that nothing of the kind stands before.
#pragma once

namespace inner {

// Every capability is gone for good, also for a caller who is root: no program that is executed from here on
// brings one back, nor another user's or group's identity. Zero or an errno.
int give_up_privileges();

}  // namespace inner
