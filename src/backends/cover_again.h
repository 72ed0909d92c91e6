// SPDX-License-Identifier: MIT
// Laying covers again in a jail that runs.
#pragma once

#include <optional>
#include <vector>

#include "backends/covers.h"

namespace backends {

struct Uncovered {
    base::Path path;  // outside
    bool is_covered_again = false;
    // Processes of the jail that had opened it through the bare name: "12 (sh)". Each was killed.
    std::vector<std::string> killed;
    bool may_be_held = false;  // some process may still have it open
};

// Covers every bare name in the mounts of a jail, then kills the jail's processes that opened one meanwhile
// (holders.h). The calling process enters the jail's namespaces and can't leave them again, so it must end
// afterwards. The result has the names that were bare; it is empty where the namespaces can't be entered.
std::vector<Uncovered> cover_again(int mount_namespace, const std::vector<Cover>& covers);

// ---- For a process of the guard that covers names one by one (session/jail_mounts.h)

// Enters the user and mount namespaces of a jail, which can't be left again. False: this process may not.
bool enter_mounts(int mount_namespace);
// Whether a mount lies on this open file or directory; nothing where the kernel does not tell (Linux 5.8).
std::optional<bool> is_mount_point(int place);
// Lays a cover onto an open file or directory. False with errno.
bool lay_cover(Cover::Kind kind, int place);

}  // namespace backends
