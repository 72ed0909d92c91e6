// SPDX-License-Identifier: MIT
// The second wall: a Landlock domain around the command that says once more, by other means than the mounts,
// where it may write. A mistake in one of the two is caught by the other. It also keeps signals and abstract
// Unix sockets inside. Reading is not its matter: what the view does not show can't be opened anyway.
//
// It can't take away what lies below a place that it gives: a protected path inside the writable project is
// held by its mount alone.
//
// Where there is no view it is the only wall (guards_reading): then it also says what can be read, listed and
// executed, and a kernel without Landlock is a failure. With version 1 a file can't be moved or linked from
// one directory to another (EXDEV).
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace landlock {

struct Wall {
    bool is_wanted = true;
    // A process with rules about files may not mount, not even in a namespace of its own, so that people who
    // nest do without; the scopes stay.
    bool guards_files = true;
    std::vector<std::string>
        writable;  // files and directories, with all below; one that is not there is passed over
    std::vector<std::string> used;  // the same for what is written but not made: devices, /proc

    bool guards_reading = false;
    std::vector<std::string> readable;  // of such a wall; what is writable or used is readable as well
    bool refuses_tcp = false;           // since version 4: connecting, and listening
    bool is_logged = false;             // since version 7: denials go to the administrator's audit log

    bool operator==(const Wall&) const = default;
};

// The version of Landlock that this kernel offers; 0 where it has none, or something around us closes it.
int kernel_abi();

struct Built {
    int abi = 0;  // 0: there is nothing to enter
    base::Fd ruleset;
    bool is_logged = false;
    int failure = 0;  // errno; then nothing may run
    std::string failed_at;
};

// Opens the places and collects the rules, for a kernel that offers `abi` (tests name an older one than there
// is). `reopened` are descriptors that the command inherits: what they can write it may open again under
// /proc/self/fd, where the mounts of the jail do not reach.
Built build(const Wall& wall, int abi, const std::vector<int>& reopened);

// Puts this process and all that it will start behind the wall; zero or an errno. no_new_privs must be set.
int enter(const Built& built);

}  // namespace landlock
