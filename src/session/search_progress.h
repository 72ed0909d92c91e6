// SPDX-License-Identifier: MIT
// What the guard has found while the session runs, in memory that it shares with the supervisor: nothing has
// to be received for it, and a guard that is killed leaves what it has written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"

namespace session {

// How long the end of a session waits for the search's process.
inline constexpr std::chrono::milliseconds kLongestSearchEnd{500};

struct LateFinding {
    enum class Kind : char {
        masked = 'm',
        appeared = 'a',
        repository = 'g',
        closed = 'c',
        replaced = 'r',
        open = 'o'
    };
    Kind kind = Kind::masked;
    std::chrono::milliseconds after{0};  // since the start of the session
    base::Path path;
};

class SearchProgress {
  public:
    using Kind = LateFinding::Kind;

    // Without memory nothing is told; the search goes on all the same.
    SearchProgress();
    ~SearchProgress();
    SearchProgress(const SearchProgress&) = delete;
    SearchProgress& operator=(const SearchProgress&) = delete;

    // When the session began, by the clock of file systems.
    struct timespec began_at() const {
        return began_at_;
    }

    void count_entries(uint64_t entries);
    void say_complete();
    void say_failed();
    void add(Kind kind, const base::Path& path);
    // Places that were found, and those of them that the file of known places has.
    void count_found(size_t places);
    void count_written(size_t places);
    // Waits until both are equal: the next launch then starts with every place that this session found. A
    // search that was killed or that a file system blocks is not waited for beyond a bound.
    void wait_until_written() const;

    struct Report {
        bool has_begun = false, is_complete = false, has_failed = false;
        uint64_t entries = 0;
        std::chrono::milliseconds duration{0};  // from the start to the end of the walk
        std::vector<LateFinding> findings;      // the first ones
        uint64_t masked = 0, repositories = 0, closed = 0, open = 0, appeared = 0, replaced = 0;
    };
    Report report() const;

  private:
    static constexpr size_t kText = 60u << 10;
    struct Shared {
        std::atomic<uint64_t> entries, masked, repositories, closed, open, appeared, replaced, found, written;
        std::atomic<int64_t> completed_after;  // milliseconds; 0: not yet
        std::atomic<bool> has_begun, has_failed;
        std::atomic<uint32_t> used;
        char text[kText];  // findings: kind, milliseconds, a blank, the path, NUL
    };
    std::chrono::milliseconds elapsed() const;

    Shared* shared_ = nullptr;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    struct timespec began_at_ = {};
};

}  // namespace session
