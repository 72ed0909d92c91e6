// SPDX-License-Identifier: MIT
// From the rules to what Landlock can say. It knows no view of a jail's own: it grants places of the host,
// each with all that lies below, and can take nothing away inside of one. So a place that holds something
// closed is not granted itself; its entries are, one by one, but for the closed one. Such a directory can't
// be listed and nothing can be made in it, and an entry that is replaced while the jail runs is lost to it:
// rules stick to what was there at the launch.
//
// Pure: asks the tree and touches nothing.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

struct GrantInputs {
    const std::vector<PathRule>& rules;  // settled, sorted by path
    const std::vector<Mount>& mounts;    // devices, and files of the jail's own that can't be laid
    const host::Tree& tree;
    base::Path project;  // physical
    base::Path program;  // this one: the jail executes it by the names of its stubs
    base::Path place;    // Place::directory; the root where there is none
    bool private_ipc = true;
    bool is_root = false;                 // the caller
    std::vector<base::Path> private_etc;  // host/private_files.h
    // Paths that are read-only even at the price of what lies around them: who can write the sandbox's own
    // configuration decides what the next session is. An administrator's rules are kept in the same way.
    std::vector<base::Path> kept;
    // Directories that the launch makes; a hidden one is there by the time of the jail.
    std::vector<NewDirectory> new_directories;
};

// A file of the jail's own that this backend can't lay over the host's.
struct MissingFile {
    base::Path path;
    Reason reason;
};

struct Grants {
    std::vector<Grant> grants;          // sorted by path
    std::vector<PathRule> unprotected;  // read-only by the rules, and yet inside something writable
    std::vector<PathRule> unmasked;     // masked by the rules, and yet inside what is granted
    std::vector<MissingFile> missing;
    std::vector<Note> notes;
};

Grants make_grants(const GrantInputs& inputs);

// How much is looked at before a directory is left out as a whole.
inline constexpr size_t kMostEntries = 4096;  // of one directory
inline constexpr size_t kMostEntriesInAll = 20'000;

}  // namespace plan
