// SPDX-License-Identifier: MIT
// The process that holds the terminal of a detached session: the outer end of the pseudo-terminal that the
// session's processes use as theirs, the last output, and the client that is attached. It is the parent of
// the supervisor and ends with it. If it is killed, the kernel hangs up the session's terminal, and the
// supervisor ends the session.
//
// It receives clients from the supervisor alone, which has checked them. It reads no file and changes none.
#pragma once

#include <sys/types.h>

#include "base/file.h"

namespace session {

// Messages between the supervisor and the holder: a note with descriptors (base/process/descriptors.h).
//   supervisor → holder   the client's request, with its connection and the stream of its terminal
//   holder → supervisor   kAttached or kDetached
inline constexpr char kAttached[] = "attached";
inline constexpr char kDetached[] = "detached";

struct HolderParts {
    base::Fd terminal;    // the outer end
    base::Fd supervisor;  // the socket pair
    base::Fd caller;      // receives "ended STATUS" if the session ended before its command ran
    pid_t process = -1;   // the supervisor, a child of this process
};

// Returns never. SIGCHLD must be blocked.
[[noreturn]] void hold_terminal(HolderParts parts);

}  // namespace session
