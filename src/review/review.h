// SPDX-License-Identifier: MIT
// A look back at the end of a session: what is new or changed in the project and would run on the host, or
// send the host somewhere, without being named. It decides nothing and removes nothing; it says where to look
// before the next commit, build or push.
//
// "Changed" is what the kernel's own clock for inodes says: a program in the jail can set a file's time of
// modification, never that of its change. What was moved together with its directory is known by its path
// (known.h). The walk follows no link. It is bounded, and what it did not look at is named, also where it
// found nothing: no limit makes it silent.
#pragma once

#include <time.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/path.h"

namespace review {

struct Session {
    base::Path project;                   // physical
    timespec started;                     // of start()
    std::vector<base::Path> search_path;  // the caller's PATH, physical
    std::string record;                   // a file for Known; empty: none
};

enum class Kind { git, on_path, start_up, pipeline, build };  // in the order of telling

struct Finding {
    Kind kind = Kind::build;
    base::Path path;
    std::string why;
};

struct Review {
    std::vector<Finding> findings;   // sorted by kind, then by path
    std::vector<base::Path> unseen;  // directories that were not looked into, or not to their end
};

struct Limits {
    size_t entries = 1'000'000;
    size_t depth = 128;
    std::chrono::milliseconds time{3'000};
};

// The present by the clock that file systems use: a moment behind the exact one.
timespec start();

Review look_back(const Session& session, const Limits& limits = {});

// For a person, at most `most` findings; empty where everything was looked at and nothing found.
std::vector<std::string> describe(const Review& review, const base::Path& project, size_t most = 10);

}  // namespace review
