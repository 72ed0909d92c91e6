// SPDX-License-Identifier: MIT
// Translates the rules into Landlock rules. Landlock has no view of its own: it grants directories of the
// host, each with everything below it, and can't take anything back inside. So a directory that contains a
// closed path is not granted itself; its entries are granted one by one, without the closed one. The jail
// can't list such a directory nor create anything in it. If an entry is replaced while the jail runs, the
// jail loses access to it, because rules refer to the files that existed at launch.
//
// Pure: reads the tree and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/path.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace plan {

struct GrantInputs {
    const std::vector<PathRule>& rules;  // settled, sorted by path
    const std::vector<Mount>& mounts;    // devices, and files of the jail's own that can't be mounted
    const host::Tree& tree;
    base::Path project;            // physical
    base::Path program;            // this one: the jail executes it under the names of its stubs
    base::Path private_directory;  // PrivateDirectory::path; the root where the backend needs none
    bool private_ipc = true;
    bool is_root = false;                 // the caller
    std::vector<base::Path> private_etc;  // host/private_files.h
    // Paths that must be read-only even if the entries around them lose grants: a process that can write the
    // sandbox's own configuration decides how the next session is built. An administrator's rules are treated
    // in the same way.
    std::vector<base::Path> kept;
    // Directories that the launch creates; a hidden one exists before the jail starts.
    std::vector<NewDirectory> new_directories;
};

// A file of the jail's own that this backend can't mount over the host's.
struct MissingFile {
    base::Path path;
    Reason reason;
};

struct Grants {
    std::vector<Grant> grants;          // sorted by path
    std::vector<PathRule> unprotected;  // read-only by the rules, but inside a writable grant
    std::vector<PathRule> unmasked;     // masked by the rules, but inside a grant
    std::vector<MissingFile> missing;
    std::vector<Note> notes;
};

Grants make_grants(const GrantInputs& inputs);

// Bounds on the entries that are read; above them a directory is left out as a whole.
inline constexpr size_t kMostEntries = 4096;  // of one directory
inline constexpr size_t kMostEntriesInAll = 20'000;

}  // namespace plan
