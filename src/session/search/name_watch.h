// SPDX-License-Identifier: MIT
// Watches directories with inotify for names that appear. Works in a mount namespace without /proc, because
// it adds a watch through a descriptor of the directory.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "plan/plan.h"
#include "session/search/jail_mounts.h"
#include "session/search/search_progress.h"

namespace session {

class NameWatch {
  public:
    // The inotify instance must have been opened in the user namespace of the caller of the program, not in
    // that of the jail: the kernel counts its watches there. Not set: nothing is watched.
    explicit NameWatch(base::Fd events);

    int descriptor() const { return events_.get(); }
    // Changes the current directory.
    void add(int directory, const base::Path& path);
    // False if a directory could not be watched: the kernel limits the watches of a user, and this class uses
    // a part of them. Then the caller has to check again from time to time.
    bool sees_all() const { return sees_all_; }
    // Whether that is because a limit was reached.
    bool has_run_out() const { return has_run_out_; }

    struct News {
        base::Path directory;
        std::string name;
        bool is_directory = false;
    };
    // False: events were lost.
    bool take(const std::function<void(const News&)>& hear);

  private:
    base::Fd events_;
    std::unordered_map<int, base::Path> watched_;
    size_t most_ = 0;
    bool sees_all_ = true;
    bool has_run_out_ = false;
};

// Names that a rule hides or protects and that were missing at launch. Each is covered when it appears, also
// if the directories above it appear first.

class LateNames {
  public:
    LateNames(const plan::Plan& plan, JailMounts& mounts, NameWatch& watch, SearchProgress& progress)
        : plan_(plan), mounts_(mounts), watch_(watch), progress_(progress) {}

    // Covers the names that exist and watches for the others.
    void look();
    // A name has appeared.
    void hear(const NameWatch::News& news);

  private:
    void look_for(const plan::LateName& late);
    void cover(const base::Path& path, plan::Access access);

    const plan::Plan& plan_;
    JailMounts& mounts_;
    NameWatch& watch_;
    SearchProgress& progress_;
    std::set<base::Path> watched_;
};

}  // namespace session
