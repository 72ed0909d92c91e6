// SPDX-License-Identifier: MIT
// What a clone had when it was made, and of which state of the project it is a copy. No program can set an
// inode number or a ctime. So an entry of the clone that still has both was not changed in the layer, and an
// entry of the project that still has both was not changed outside.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace layers {

struct Listed {
    uint32_t mode = 0;   // with the type
    uint64_t inode = 0;  // of the copy; 0: changed since. Directories have none
    int64_t changed =
        0;  // ctime of the copy, nanoseconds since 1970; 0: the copy can't change (a checkpoint)
    uint64_t original = 0;  // inode in the project
    int64_t original_changed = 0;

    bool is_directory() const { return S_ISDIR(mode); }
    bool is_unchanged(const struct stat& copy) const;
    bool is_unchanged_outside(const struct stat& now) const;
};

class Listing {
  public:
    // Of the clone in this directory.
    static base::Result<Listing> load(const std::string& directory);
    // Returns when a later write to the clone gets a later ctime than those in the list.
    base::Status save(const std::string& directory) const;

    void add(const std::string& path, const Listed& entry);
    const Listed* find(const std::string& path) const;
    // The paths of the entries of a directory.
    const std::vector<std::string>& below(const std::string& directory) const;

    // For a copy of the clone: entries that are unchanged in `from` get the inode and, if it can change, the
    // ctime of the copy in `to`.
    Listing carried_over(int from, int to, bool can_change) const;

    // How many files of the clone are changed, new or missing, as far as the first `most` of both show it.
    size_t count_changes(int clone, size_t most) const;

  private:
    size_t count_files_at(const std::string& path) const;

    std::unordered_map<std::string, Listed> entries_;
    std::unordered_map<std::string, std::vector<std::string>> below_;
};

// "clone" of a root, and the two names in it.
inline constexpr const char* kClone = "/clone";
inline constexpr const char* kCloneTree = "/tree";
bool is_tree_of_clone(std::string_view path);

}  // namespace layers
