// SPDX-License-Identifier: MIT
// Writes changes of a layer to its project. The project is afterwards as it was, or has every change that was
// asked for; after a crash, resume() or undo() makes one of the two true. Both can be interrupted and
// repeated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "layers/changes.h"
#include "layers/journal.h"

namespace layers {

struct Applying {
    int layer = -1;    // the upper directory
    int project = -1;  // open directory
    base::Path project_path;
    std::string directory;  // exists and is empty: journal and originals of this apply
    std::string slots;      // where choose_slots() wants them
    int64_t scanned = 0;    // when find_changes() began
};

// A directory on the mount of the project, so that entries can be renamed between both: in `directory`, else
// beside the project, else in the project. A jail sees only the last one.
std::string choose_slots(const base::Path& project, const std::string& directory, const std::string& name);

// Performs these changes, which must have neither conflicts nor obstacles. After an error the project is as
// it was, unless the error is of the kind that is_interrupted() reports.
base::Result<Journal> apply(const Applying& request, const std::vector<Change>& changes);

// An apply in this directory was decided and is not complete.
bool is_interrupted(const std::string& directory);
bool is_done(const std::string& directory);
struct Progress {
    size_t performed = 0, all = 0;
};
base::Result<Progress> progress_of(const std::string& directory);

base::Status resume(const std::string& directory);

// Puts everything back. An error, before anything is changed, where files that the apply wrote were changed
// since, except at the names in `excused`. Removes the directory.
base::Status undo(const std::string& directory, const std::vector<std::string>& excused = {});

// Files that the apply in this directory wrote, by path.
base::Result<std::map<std::string, Written>> written_by(const std::string& directory);

// Files that undo() has put back into the project, of all applies below this directory. Their ctime shows
// that move, which is not a change outside.
std::map<std::string, Written> restored_below(const std::string& parent);

// Removes what an apply has stored, its originals included.
void remove_applied(const std::string& directory);

}  // namespace layers
