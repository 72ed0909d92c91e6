// SPDX-License-Identifier: MIT
// The review at the end of a session: new or changed files in the project that would run on the host, or make
// the host connect somewhere, without the user naming them. It decides nothing and removes nothing; it lists
// what to check before the next commit, build or push.
//
// "Changed" means the inode's change time (ctime): a program in the jail can set a file's modification time,
// but never its ctime. A file that was moved together with its directory is recognised by its path (known.h).
// The walk follows no link. It is bounded, and the review always names the directories that it did not read,
// even if it found nothing.
#pragma once

#include <time.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/path.h"

namespace review {

// What a copy-on-write session would change in its project.
struct Layer {
    base::Path files;              // the directory that has the changed files, at their relative paths
    std::set<base::Path> changed;  // in the project
};

struct Session {
    base::Path project;                          // physical
    timespec started;                            // from start()
    std::vector<base::Path> search_path;         // the caller's PATH, physical
    std::string record;                          // a file for Known; empty: none
    base::Path home;                             // the caller's
    std::vector<base::Path> git_configurations;  // of the caller, of the system and of the project
    std::optional<Layer> layer;                  // then only its changes count, and no walk is made
};

enum class Kind { git, on_path, start_up, pipeline, build };  // in the order of the report

struct Finding {
    Kind kind = Kind::build;
    base::Path path;
    std::string why;
    // It runs only if the user calls a certain tool or command. Others run at a commit, when a shell enters
    // the directory, when an editor opens it.
    bool needs_request = false;
};

struct Review {
    std::vector<Finding> findings;   // what runs by itself first, then by kind, then by path
    std::vector<base::Path> unseen;  // directories that were not read, or not completely
    size_t earlier_runs = 0;         // without a review of their own, which this one covers
    bool is_of_layer = false;        // nothing of it is in the project yet
};

struct Limits {
    size_t entries = 1'000'000;
    size_t depth = 128;
    std::chrono::milliseconds time{3'000};
};

// The current time by the clock that file systems use, which is slightly behind the exact clock.
timespec start();

Review look_back(const Session& session, const Limits& limits = {});

// For a run without a review: the next review of the project covers it.
void leave_to_next_review(const Session& session);

// For a person, at most `most` findings; empty where everything was read and nothing found.
std::vector<std::string> describe(const Review& review, const base::Path& project, size_t most = 10);

}  // namespace review
