// SPDX-License-Identifier: MIT
// The findings of the guard while the session runs, in memory that it shares with the supervisor. So the
// supervisor has nothing to receive, and the findings survive a guard that is killed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/path.h"

namespace session {

// Places of a project that an earlier session found: files to mask and nested repositories. The next launch
// checks each again and covers it before its command starts, even in a large project. The file is in the
// state directory, which no jail can write (tests/jail/own_files.bats).

// Relative to the project. Empty if there is no complete file that belongs to the user.
std::vector<std::string> read_known_places(const std::string& state_directory, const base::Path& project);

class KnownPlaces {
  public:
    // Opens the directory, so that write() also works from another mount namespace.
    KnownPlaces(const std::string& state_directory, const base::Path& project);

    // Writes as many as fit, in this order. Does nothing if the file has the same content already.
    void write(const std::vector<std::string>& places);

  private:
    base::Fd directory_;
    std::string name_;
    std::string project_;
    std::string written_;
};

// How long the end of a session waits for the search's process.
inline constexpr std::chrono::milliseconds kLongestSearchEnd{500};

struct LateFinding {
    enum class Kind { masked, appeared, repository, closed, replaced, open, held };
    Kind kind = Kind::masked;
    std::chrono::milliseconds after{0};  // since the start of the session
    base::Path path;
};

class SearchProgress {
  public:
    using Kind = LateFinding::Kind;

    // If mmap fails, nothing is reported; the search continues.
    SearchProgress();
    ~SearchProgress();
    SearchProgress(const SearchProgress&) = delete;
    SearchProgress& operator=(const SearchProgress&) = delete;

    // The start of the session, by the clock that file systems use for time stamps.
    struct timespec began_at() const {
        return began_at_;
    }

    void count_entries(uint64_t entries);
    void say_complete();
    void say_failed();
    // The user has no inotify watches left for a part of the project.
    void say_unwatched();
    void add(Kind kind, const base::Path& path);
    // Places that were found, and those of them that the file of known places has.
    void count_found(size_t places);
    void count_written(size_t places);
    // Waits until both are equal: the next launch then starts with every place that this session found. A
    // search that was killed or that a file system blocks is not waited for beyond a bound.
    void wait_until_written() const;

    struct Report {
        bool has_begun = false, is_complete = false, has_failed = false, is_unwatched = false;
        uint64_t entries = 0;
        std::chrono::milliseconds duration{0};  // from the start to the end of the walk
        std::vector<LateFinding> findings;      // the first ones, as many as fit
        uint64_t masked = 0, repositories = 0, closed = 0, open = 0, appeared = 0, replaced = 0, held = 0;
    };
    Report report() const;

  private:
    static constexpr size_t kText = 60u << 10;
    struct Shared {
        std::atomic<uint64_t> entries, masked, repositories, closed, open, appeared, replaced, held, found,
            written;
        std::atomic<int64_t> completed_after;  // milliseconds; 0: not yet
        std::atomic<bool> has_begun, has_failed, is_unwatched;
        std::atomic<uint32_t> used;
        char text[kText];  // findings: kind, milliseconds, a blank, the path, NUL
    };
    std::chrono::milliseconds elapsed() const;

    Shared* shared_ = nullptr;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    struct timespec began_at_ = {};
};

}  // namespace session
