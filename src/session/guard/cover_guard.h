// SPDX-License-Identifier: MIT
// Keeps covered names covered while a jail runs, in the keeper's process. It covers names that became
// uncovered, kills processes of the jail that opened them meanwhile, and reports to the supervisor.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"
#include "base/path.h"
#include "session/guard/placeholders.h"

namespace session {

// The settings of protected git configurations that make git run a program, as they were at the start of the
// session. If such a file is replaced outside and is writable inside for a moment, take_new() names the new
// settings.

// True for the files from which git reads the settings of a repository.
bool is_git_configuration(const base::Path& path);

class GitProgramSettings {
  public:
    // Reads the configurations among the covered names.
    void read(const std::vector<backends::Cover>& covers);

    // The keys of `path` that make git run a program, and that are new or have a new value since the last
    // call.
    std::vector<std::string> take_new(const base::Path& path);

  private:
    using Settings = std::set<std::pair<std::string, std::string>>;  // key, value
    std::map<base::Path, Settings> known_;
};

// A cover is mounted on a file, not on its name. A rename over the file (git does so with .git/config,
// editors with .env) or a removal outside unmounts the cover in every jail (since Linux 3.18). This class
// watches the directories of covered names, so that the keeper can cover them again.

class CoverWatch {
  public:
    // Starts to watch, so construct it before the jail is built.
    explicit CoverWatch(const plan::Plan& plan);

    // The jail's mount namespace, which contains the covers. Without it, or without covers, there is nothing
    // to do.
    void set_mount_namespace(base::Fd mount_namespace);
    bool is_empty() const { return !mount_namespace_ || is_over_; }
    int mount_namespace() const { return mount_namespace_.get(); }
    const std::vector<backends::Cover>& covers() const { return covers_; }

    // This path and everything below it was removed on purpose: what appears there is not covered.
    void forget(const base::Path& path);
    // Call it after covers were mounted again: a directory may have been replaced.
    void watch_again();
    // Readable when something changes; -1: nothing is watched.
    int events() const { return is_over_ ? -1 : events_.get(); }
    // False where a directory can't be watched, because the user has no watches left for instance.
    bool sees_all() const { return sees_all_; }
    // The same for a plan with covers; true without covers.
    bool is_watching() const { return covers_.empty() || sees_all_; }
    struct News {
        bool is_concerned = false;  // one of the names was created, removed or replaced
        bool is_removed = false;    // one was removed
        // Git configurations that were written after a rename put them in place. The jail wrote them, because
        // git writes a new one completely before it renames it.
        std::set<base::Path> written;
    };
    News take();
    // The project's HEAD (plan::kBareHead) that the jail has made since the last call.
    std::optional<base::Path> take_head() {
        return std::exchange(has_new_head_, false) ? head_ : std::nullopt;
    }
    // It is still there.
    void look_for_head_again() { has_new_head_ = true; }
    bool is_looking_for_head() const { return has_new_head_ && head_; }
    // The jail is dead: nothing is left to do.
    void say_over() { is_over_ = true; }
    // Takes time: closing the last descriptor makes the kernel unmount everything in the namespace and remove
    // the watches.
    void close();

  private:
    void list_names();
    void note_writing(const base::Path& path, uint32_t event, News& news);

    std::vector<backends::Cover> covers_;
    std::map<base::Path, std::set<std::string, std::less<>>> names_;  // in each directory
    std::map<int, base::Path> watched_;                               // by number of the watch
    base::Fd mount_namespace_;
    base::Fd events_;
    std::set<base::Path> renamed_;  // git configurations that a rename put in place since the last covers
    std::optional<base::Path> head_;
    bool has_new_head_ = false;
    bool sees_all_ = false;
    bool is_over_ = false;
};

// A name that was uncovered for a moment, as the keeper reports it.
struct BareName {
    base::Path path;  // outside
    bool is_covered_again = false;
    bool may_be_held = false;  // a process of the jail may still have it open
    std::string detail;        // what happened meanwhile; empty: nothing was seen
};

// One message of the keeper to the supervisor contains several names.
inline constexpr size_t kLongestReport = 16'384;
// The last message, without a name: no report follows.
inline constexpr std::string_view kNoMoreReports = ".";
std::string encode(const BareName& name);
std::vector<BareName> decode_bare_names(std::string_view bytes);

class CoverGuard {
  public:
    // `programs` were read before the command started; `socket` is connected to the supervisor.
    CoverGuard(CoverWatch& covers, Placeholders& placeholders, GitProgramSettings programs, int socket);

    // Milliseconds until look() is due without an event; -1: never.
    int patience() const;
    // The watch has events.
    void take_events();
    // Call it when patience() has passed: makes removed placeholders again, and checks all names.
    void look();
    // Checks all names at once. Returns those that were uncovered.
    std::set<base::Path> cover_now() { return cover({}); }
    // The jail is dead: reports the events that are pending, then sends kNoMoreReports.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    std::set<base::Path> cover(std::set<base::Path> written);
    void report(std::vector<BareName> names, const std::set<base::Path>& written);
    bool is_worth_reporting(const BareName& name);

    CoverWatch& covers_;
    Placeholders& placeholders_;
    GitProgramSettings programs_;
    int socket_;
    std::map<base::Path, int> reported_;  // how often each was reported with a detail
    std::set<std::string> told_;          // sent reports without a detail
    Clock::time_point renewal_ = kNever;  // of the placeholders
    bool is_jail_dead_ = false;
};

}  // namespace session
