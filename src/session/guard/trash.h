// SPDX-License-Identifier: MIT
// Where placeholders go when they are no longer needed. Removing a directory can take milliseconds on a busy
// disk, moving it takes microseconds. So a session moves them here and ends, and its keeper removes them
// afterwards. The name of an entry is its original path, so that an entry with content can go back.
#pragma once

#include <string>

#include "base/file.h"
#include "base/path.h"

namespace session {

class Trash {
  public:
    explicit Trash(std::string state_directory) : state_directory_(std::move(state_directory)) {}

    // Moves the placeholder `path`, whose parent is open. False if that fails (mostly because it is on
    // another file system); then it has not moved.
    bool take(int parent, const base::Path& path);

  private:
    void open_bag();

    std::string state_directory_;
    base::Fd bag_;  // for this session only: a removal in a directory blocks moves into it
    bool is_tried_ = false;
};

// Removes what this session and earlier ones left there. An entry that is neither an empty directory nor a
// placeholder file goes back to its path, or stays: nothing is ever lost.
void empty_trash(const std::string& state_directory);

}  // namespace session
