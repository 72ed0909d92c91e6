// SPDX-License-Identifier: MIT
// The list of operations of one apply, as it is stored before the first of them changes the project:
//
//   applied/N/place     where the slots are; written before they are made
//   applied/N/journal   the operations; from here on the apply is decided
//   applied/N/done      the apply is complete
//
// Each operation has a slot, which is a name in a directory on the project's own file system. Before the
// operation the slot holds what is new, afterwards what was replaced. So the inodes at both names show
// whether an operation has been performed, whatever interrupted the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace layers {

enum class Act : uint8_t {
    put,       // the slot's entry moves to a name that is missing
    exchange,  // the slot's entry and the entry at the name change places
    remove,    // the entry at the name moves to the slot
    mode,      // the permissions of a file or directory
};

struct Identity {
    uint64_t inode = 0;
    int64_t modified = 0;  // nanoseconds since 1970
    bool is_directory = false;
};

struct Operation {
    Act act = Act::put;
    std::string path;  // relative to the project
    Identity fresh;    // what is new; for `mode` the file or directory itself
    Identity old;      // what is replaced or removed
    uint32_t mode_before = 0, mode_after = 0;
};

struct Journal {
    base::Path project;
    uint64_t project_inode = 0;
    std::string slots;    // directory
    int64_t scanned = 0;  // when the project was read, nanoseconds since 1970
    std::vector<Operation> operations;
};

// Synced and renamed into place: afterwards the journal is whole, or missing.
base::Status save_journal(const std::string& directory, const Journal& journal);
base::Result<Journal> load_journal(const std::string& directory);

// Writes a small file with its content synced, and its directory.
base::Status write_synced(const std::string& directory, const std::string& name, std::string_view content);
base::Status sync_directory(const std::string& directory);

}  // namespace layers
