// SPDX-License-Identifier: MIT
// What a jail wrote to its private home directory, which ends with it, and where it stays for an hour:
//
//   $STATE/discarded/SESSION/about    what was discarded; written last
//   $STATE/discarded/SESSION/home/    the files, at their paths below the home directory
//
// No jail can read or write the state directory. The files are content of a jail: every reader of this
// directory opens them without following links.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace session {

inline constexpr std::time_t kDiscardedStay = 3600;  // seconds

// A file or a directory that the jail made.
struct DiscardedPath {
    base::Path path;         // as the command saw it
    uint64_t files = 0;      // files and links, without directories
    uint64_t bytes = 0;      // as a reader sees them: the holes of a sparse file count
    bool is_counted = true;  // false: there are more files than `files`
    bool is_stored = false;
    uint64_t unreadable = 0;  // files and directories that have no permission for their owner
    std::string obstacle;     // why it is not stored
};

struct Discarded {
    std::string session;
    base::Path project;
    base::Path home;
    int64_t ended = 0;                 // nanoseconds since 1970, for the order of sessions
    std::vector<DiscardedPath> paths;  // sorted
    bool is_complete = true;           // false: there are more paths

    bool is_empty() const { return paths.empty(); }
    std::time_t until() const { return static_cast<std::time_t>(ended / 1'000'000'000) + kDiscardedStay; }
};

// The directory of the stored files of one session.
std::string stored_home(const std::string& state_directory, const std::string& session);

base::Status write_about(const std::string& state_directory, const Discarded& discarded);

// What this session has stored already; nothing before write_about().
std::optional<Discarded> stored_by(const std::string& state_directory, const std::string& session);

// Those that have not expired, the newest first. Removes the others.
std::vector<Discarded> read_discarded(const std::string& state_directory, std::time_t now);

// Removes what is older than an hour, also what a killed session has left half stored.
void remove_old_discarded(const std::string& state_directory, std::time_t now);

// Removes the oldest until the rest has at most this size.
void limit_discarded(const std::string& state_directory, uint64_t bytes);

}  // namespace session
