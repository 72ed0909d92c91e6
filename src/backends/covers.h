// SPDX-License-Identifier: MIT
// What a plan mounts on files of the host: covers over names that the jail must not read or change. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/path.h"
#include "plan/plan.h"

namespace backends {

// How the mounts of a plan cover each other. Pure.

struct Layer {
    std::optional<plan::MountKind>
        ground;  // the mount that contains the target; nothing: the root, a tmpfs of ours
    std::optional<size_t> ground_index;  // which mount that is
    bool is_in_writable = false;         // an enclosing mount is a writable part of the host
    bool is_covered = false;             // a later mount hides it
    bool is_sealed = false;              // a later seal makes it read-only
};

// True: a file can't be made there, only covered.
bool shows_host(const Layer& layer);

// One for each mount, in the same order.
std::vector<Layer> layers_of(const std::vector<plan::Mount>& mounts);

struct Cover {
    enum class Kind : unsigned char {
        readonly,    // the file itself, read-only
        writable,    // the file itself, only to keep its name
        nothing,     // something empty
        our_program  // a stub
    };
    base::Path inside;   // its path in the jail
    base::Path outside;  // the path of the same file on the host
    Kind kind = Kind::nothing;
};

// Covers that can be mounted again from inside the jail's mount namespace, each after its parent.
std::vector<Cover> covers_of(const plan::Plan& plan);

// Mounts covers again in a running jail.

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
