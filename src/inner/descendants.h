// SPDX-License-Identifier: MIT
// Theory of operation. With a pid namespace the kernel kills everything in a jail when its pid 1 exits.
// Without one, this code does. A process that adopts orphans (a "child subreaper") can't lose a descendant,
// whatever that does with sessions and double forks. When its children are killed, their children become its
// own, and so on until none is left.
//
// Only children are signalled, never other processes: only this process reaps its children, so their pids
// can't belong to another process meanwhile.
//
// There are two such processes. The stage ends the jail when the command ends or the supervisor exits. The
// warden, its parent, only waits, and ends the jail if the stage is killed. Each survives the death of the
// other, and of the supervisor.
#pragma once

namespace inner {

// Splits this process in two. Returns in the child, which continues as the stage: zero or an errno. The
// parent, the warden, never returns; it has no open descriptor, exits after the stage, and leaves nothing
// running.
int leave_warden();

// Kills everything that this process started, and waits for it.
void end_descendants();

}  // namespace inner
