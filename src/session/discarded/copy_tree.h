// SPDX-License-Identifier: MIT
// Counts and copies a tree that a jail has written. Follows no link, opens only regular files and directories
// of one file system, and is bounded in depth and time.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/result.h"

namespace session {

class TreeWalk {
  public:
    using Clock = std::chrono::steady_clock;
    TreeWalk(int root, size_t depth, Clock::time_point latest);

    // False for everything but a file, a directory and a symbolic link, and for another file system.
    bool look_at(int directory, const char* name, struct stat& status) const;
    base::Fd open_directory(int directory, const char* name) const;
    // The directory that contains the last component of `relative`.
    base::Fd open_parent(int directory, const std::string& relative) const;
    bool is_late() const { return Clock::now() > latest_; }
    size_t depth() const { return depth_; }

    struct Sum {
        uint64_t files = 0, bytes = 0, unreadable = 0;
        bool is_complete = true;
        bool is_deep = false;  // below more directories than the walk enters
    };
    // Stops after `most` entries.
    Sum count(int root, const std::string& relative, size_t most) const;

  private:
    struct Count;
    void add(Count& count, int directory, const char* name, size_t depth) const;

    dev_t device_ = 0;
    size_t depth_;
    Clock::time_point latest_;
};

class TreeCopy {
  public:
    struct Rules {
        bool keeps_modes = false;  // directories get 0700; false: modes as a new file of the user's has them
        bool replaces = false;     // existing files
        // Why an entry is not copied; empty: it is. `target` is the text of a link.
        std::function<std::string(const std::string& relative, const std::string& target)> obstacle = {};
        // Told about each entry that is not copied. Not set: the copy ends with an error.
        std::function<void(const std::string& relative, const std::string& why)> on_left_out = {};
    };
    TreeCopy(const TreeWalk& walk, Rules rules) : walk_(walk), rules_(std::move(rules)) {}

    // The entry at `relative` below `from`, to the same path below `to`; makes missing directories on the
    // way.
    base::Status copy(int from, int to, const std::string& relative);
    uint64_t files() const { return files_; }

  private:
    struct Place {
        int from, to;
        std::string name;
        std::string relative;
        size_t depth = 0;
    };
    base::Status copy_entry(const Place& place);
    base::Status copy_directory(const Place& place);
    base::Status copy_file(const Place& place);
    base::Status copy_link(const Place& place, const std::string& target);
    base::Status leave_out(const Place& place, const std::string& why);
    base::Status make_room(const Place& place, bool& is_free);
    base::Fd make_parent(int to, const std::string& relative);
    mode_t directory_mode() const { return rules_.keeps_modes ? 0700 : 0777; }

    const TreeWalk& walk_;
    const Rules rules_;
    uint64_t files_ = 0;
};

}  // namespace session
