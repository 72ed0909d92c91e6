// SPDX-License-Identifier: MIT
// Where placeholders go when they have served. Removing a directory can take milliseconds on a busy disk,
// moving it microseconds: so a session moves them here and ends, and its keeper removes them afterwards. The
// name of an entry is the path that it came from, so that one which turns out to hold something goes back.
#pragma once

#include <string>

#include "base/file.h"
#include "base/path.h"

namespace session {

class Trash {
  public:
    explicit Trash(std::string state_directory) : state_directory_(std::move(state_directory)) {}

    // Moves the directory `path`, whose parent is open. False where that can't be done (another file system,
    // above all); then it is where it was.
    bool take(int parent, const base::Path& path);

  private:
    void open_bag();

    std::string state_directory_;
    base::Fd bag_;  // of this session alone: removing something in a directory holds up all who move into it
    bool is_tried_ = false;
};

// Removes what this session and earlier ones have left there. What is no empty directory goes back where it
// came from, or stays: nothing is ever lost.
void empty_trash(const std::string& state_directory);

}  // namespace session
