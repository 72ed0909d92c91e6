// SPDX-License-Identifier: MIT
// Processes of a jail that opened a file while no mount covered it. A mount closes a name, not a descriptor:
// a process that opened the file before keeps reading or writing it. So these processes are killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"

namespace backends {

// A file or directory that was reachable through a name for a moment.
struct BareObject {
    base::Path inside;  // the name in the jail
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t mount = 0;  // the mount that contains the uncovered name, not the cover
    bool is_directory = false;
    bool is_secret = false;  // the cover hides the content; otherwise it only refuses writing
    size_t index = 0;        // in the caller's list, to report which object was held
    // While it is open, no new file gets the same number: a process that has one is not a holder.
    base::Fd open;
};

struct Holder {
    size_t index = 0;   // BareObject::index
    pid_t process = 0;  // its pid in the jail
    std::string name;   // as /proc/PID/comm has it
};

struct Holders {
    std::vector<Holder> killed;
    // False: some process still holds an object after every round, or could not be examined.
    bool is_certain = true;
};

// Kills every process that holds one of the objects: by a descriptor of any thread, a working directory, its
// program, a memory mapping, or a descriptor that is queued in a Unix socket. The caller must have entered
// the jail's user and mount namespaces: it reads the jail's own /proc.
Holders kill_holders(const std::vector<BareObject>& objects);

}  // namespace backends
