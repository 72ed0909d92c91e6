// SPDX-License-Identifier: MIT
// Theory of operation. With a pid namespace the kernel ends all that a jail started when its pid 1 ends.
// Without one, this does: a process that takes orphans in (a "child subreaper") can't lose a descendant,
// whatever that does with sessions and double forks. When its children are killed, theirs become its own, and
// so on until it has none.
//
// Only children are signalled, never processes that are found elsewhere: nobody else reaps them, so that
// their numbers can't have become another process's meanwhile.
//
// Two such processes stand one above the other. The stage ends the jail when the command ends or the
// supervisor is gone. The warden above it does nothing but wait, and ends the jail when the stage was killed.
// Each survives the other, and the supervisor.
#pragma once

namespace inner {

// Splits this process in two. Returns in the child, which goes on as the stage: zero or an errno. The parent,
// the warden, never returns; it holds no descriptor, ends after the stage, and leaves nothing running.
int leave_warden();

// Ends all that this process started, and waits for it.
void end_descendants();

}  // namespace inner
