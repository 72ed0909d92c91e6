// SPDX-License-Identifier: MIT
// Where placeholders go when they are no longer needed. Removing a directory can take milliseconds on a busy
// disk, moving it takes microseconds. So a session moves them here and ends, and its keeper removes them
// afterwards. The name of an entry is its original path, so that an entry with content can go back.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/path.h"

namespace session {

// Placeholders that are files, because some programs fail if their name is a directory. Their content is one
// of base/inside/jail_files.h and identifies them; a file with any other content belongs to the user,
// except kSpareConfig.

// Makes it in the open directory `parent`, at once with its content, so that no reader sees it empty. Zero,
// or errno.
int make_placeholder_file(int parent, const char* name, std::string_view content);

enum class Occupant {
    placeholder,
    other,
    unknown  // it could not be looked at, for lack of descriptors or memory: look again later
};
// What the name of a placeholder file is now.
Occupant look_at_placeholder_file(int parent, const char* name);

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
// placeholder file goes back to its path, or stays: nothing is ever lost. One that can't be looked at stays
// for the next call.
void empty_trash(const std::string& state_directory);

}  // namespace session
