// SPDX-License-Identifier: MIT
// Mounts covers again in a running jail.
#pragma once

#include <optional>
#include <vector>

#include "backends/covers.h"

namespace backends {

struct Uncovered {
    base::Path path;  // outside
    bool is_covered_again = false;
    // Processes of the jail that had opened it through the uncovered name: "12 (sh)". Each was killed.
    std::vector<std::string> killed;
    bool may_be_held = false;  // some process may still have it open
};

// Covers every uncovered name in the mounts of a jail, then kills the jail's processes that opened one
// meanwhile (holders.h). The calling process enters the jail's namespaces and can't leave them again, so it
// must exit afterwards. Returns the names that were uncovered; empty if the namespaces can't be entered.
std::vector<Uncovered> cover_again(int mount_namespace, const std::vector<Cover>& covers);

// ---- For a process of the guard that covers names one by one (session/search/jail_mounts.h)

// Enters the user and mount namespaces of a jail, which can't be left again. False: no permission.
bool enter_mounts(int mount_namespace);
// Whether this open file or directory is a mount point; nothing if the kernel does not report it (before
// Linux 5.8).
std::optional<bool> is_mount_point(int place);
// Mounts a cover onto an open file or directory. False with errno.
bool lay_cover(Cover::Kind kind, int place);

}  // namespace backends
