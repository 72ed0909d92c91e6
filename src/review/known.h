// SPDX-License-Identifier: MIT
// What earlier reviews of a project have looked at, and when the last one ended; kept in the sandbox's own
// state, which no jail can reach.
//
// Threat: a directory that is renamed keeps the times of the files in it. What was planted under a name that
// no list has, or in a tree that the review passes over, would be old when a later session moves it to where
// it runs (tests/review/moved_test.cc). Its path is new all the same: a file that is older than the last
// review, at a path that the last review did not see, was moved there.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <set>
#include <string>
#include <unordered_set>

#include "base/path.h"

namespace review {

class Known {
  public:
    // `file` may be missing, or empty for no record at all.
    Known(std::string file, const timespec& started);

    // Whether the file at `path` came or changed in this session; remembers the path for the next review.
    bool is_new(const base::Path& path, const struct stat& status);

    // Writes what this review has seen. A review that did not see everything can't tell what was moved: then
    // the next one goes by times alone.
    void save(bool is_complete) const;

  private:
    std::string file_;
    timespec started_;
    bool has_record_ = false;
    timespec reviewed_ = {};                  // the end of the last review
    std::unordered_set<std::string> before_;  // digests of paths
    std::set<std::string> now_;
};

}  // namespace review
