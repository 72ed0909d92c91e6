// SPDX-License-Identifier: MIT
// The paths that earlier reviews of a project have seen, and when the last one ended; stored in the sandbox's
// own state, which no jail can reach.
//
// Threat: renaming a directory keeps the times of the files in it. A file planted under a name that is on no
// list, or in a tree that the review skips, would look old when a later session moves it to where it runs
// (tests/review/moved_test.cc). But its path is new: a file that is older than the last review, at a path
// that the last review did not see, was moved there.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/path.h"

namespace review {

// Runs that ended without a review (short ones without a terminal, and those with --quiet), until the next
// review of the same project names what they left. One file beside the records of all projects holds the
// times of each run; no jail can reach it.

struct Run {
    timespec started;
    timespec ended;
};

// `record` is the project's file for Known.
void add_unreviewed(const std::string& record, const timespec& started);

// Removes what it returns.
std::vector<Run> take_unreviewed(const std::string& record);

class Known {
  public:
    // `file` may be missing, or empty for no record.
    Known(std::string file, const timespec& started);

    // Whether the file at `path` was created, changed or moved there since the session started, or in a run
    // without a review; records the path for the next review.
    bool is_new(const base::Path& path, const struct stat& status);

    // The same, and whether another, older file has taken the place of the one that the last review saw.
    bool is_new_or_replaced(const base::Path& path, const struct stat& status);

    // Whether the last review saw this entry of the file, which has no time of its own; records it for the
    // next review. Nothing: the last review did not read the file.
    std::optional<bool> has_entry(const base::Path& file, std::string_view entry);

    // How many runs without a review this one covers.
    size_t earlier_runs() const { return runs_.size(); }

    // Writes the paths that this review has seen. An incomplete review can't detect moved files: then the
    // next one uses only times.
    void save(bool is_complete) const;

  private:
    std::string file_;
    timespec started_;
    bool is_older_than_review(const struct stat& status) const;

    std::vector<Run> runs_;
    bool has_record_ = false;
    timespec reviewed_ = {};                  // the end of the last review
    std::unordered_set<std::string> before_;  // digests of paths
    std::set<std::string> now_;
};

// Seconds, a dot and nanoseconds.
std::string time_text(const timespec& time);
std::optional<timespec> parse_time(std::string_view text);

}  // namespace review
