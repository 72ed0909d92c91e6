// SPDX-License-Identifier: MIT
// What a layer changes in its project: one list of plain data, made from the upper directory of an overlay,
// or from a clone. Every decision about a layer (diff, selection, apply) starts from this list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace layers {

class Listing;

// The staging directory in the project, where the state directory is on another file system.
inline constexpr const char* kStage = ".agent-sandbox-apply";

enum class EntryKind : uint8_t { none, file, directory, link, special };

struct Entry {
    EntryKind kind = EntryKind::none;
    uint32_t mode = 0;  // 01777: set-id bits do not count
    uint64_t size = 0;
    uint64_t inode = 0;
    int64_t modified = 0;  // nanoseconds since 1970

    bool exists() const { return kind != EntryKind::none; }
};

struct Change {
    std::string path;            // relative to the project; "" is the project itself
    Entry before;                // in the project, as it is now
    Entry after;                 // in the layer
    bool is_mode_alone = false;  // the content is the same
    // Names that have changed outside since the start, and that this change would overwrite or remove.
    std::vector<std::string> conflicts;
    std::string obstacle;     // why it can't be applied; empty: it can
    std::string held;         // why it is applied only on request; empty: it is not held back
    bool is_ignored = false;  // by git, so it is applied only on request

    bool is_deletion() const { return !after.exists(); }
    bool is_addition() const { return !before.exists(); }
};

// A file that an earlier apply of the same layer wrote. It is not a change outside.
struct Written {
    uint64_t inode = 0;
    int64_t modified = 0;
};

struct Sides {
    int layer = -1;                    // the upper directory, or the clone
    int project = -1;                  // the lower one, now
    int64_t start = 0;                 // of the session, nanoseconds since 1970
    const Listing* listing = nullptr;  // of a clone
    std::map<std::string, Written> written;
};

// Sorted by path, a directory before its content. A directory that is deleted is one change. An error: a part
// could not be read, or the directory is not one that an overlay made.
base::Result<std::vector<Change>> find_changes(const Sides& sides);

// How many files the layer in this directory has written or deleted so far; stops at `most`. For a layer that
// a session uses. `files` is Layer::present().
size_t count_files(const std::string& files, size_t most);

// Everything below a directory of the project that is deleted, sorted, without the directory itself.
base::Result<std::vector<std::string>> names_below(int project, const std::string& path);

}  // namespace layers
