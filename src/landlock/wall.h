// SPDX-License-Identifier: MIT
// The second wall: a Landlock domain around the command that limits once more, independently of the mounts,
// where it may write. A mistake in one of the two is caught by the other. It also blocks signals and abstract
// Unix sockets to the outside. It does not limit reading, because the command can't open what the view does
// not show.
//
// It can't take back rights below a path that it grants: only the mount protects a protected path inside the
// writable project.
//
// Without a view it is the only wall (guards_reading): then it also limits what can be read, listed and
// executed, and a kernel without Landlock is a failure. With ABI 1 a file can't be moved or linked from one
// directory to another (EXDEV).
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace landlock {

struct Wall {
    bool is_wanted = true;
    // A process with file rules may not mount, not even in a namespace of its own. So jails that allow nested
    // namespaces have no file rules; the scopes stay.
    bool guards_files = true;
    std::vector<std::string>
        writable;                   // files and directories, with everything below; a missing one is skipped
    std::vector<std::string> used;  // the same for files that are written but not created: devices, /proc

    bool guards_reading = false;
    std::vector<std::string> readable;  // for guards_reading; writable and used paths are readable as well
    bool refuses_tcp = false;           // since ABI 4: connecting, and listening
    bool is_logged = false;             // since ABI 7: denials go to the administrator's audit log
    // False: a network namespace of their own separates them (doorman/answers/socket_factory.h). Landlock
    // compares the processes that made the two sockets, and the factory is outside the wall.
    bool keeps_abstract_sockets = true;

    bool operator==(const Wall&) const = default;
};

// The Landlock ABI of this kernel; 0 where it has none, or an outer sandbox blocks it.
int kernel_abi();

struct Built {
    int abi = 0;  // 0: no ruleset to enter
    base::Fd ruleset;
    bool is_logged = false;
    int failure = 0;  // errno; then the command must not run
    std::string failed_at;
};

// Opens the paths and collects the rules, for a kernel with this `abi` (tests pass an older one than the
// kernel has). `reopened` are descriptors that the command inherits: it may open the files behind them again
// under /proc/self/fd, where the mounts of the jail do not apply.
Built build(const Wall& wall, int abi, const std::vector<int>& reopened);

// Restricts this process and all its future children; zero or an errno. no_new_privs must be set.
int enter(const Built& built);

}  // namespace landlock
