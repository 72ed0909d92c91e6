// SPDX-License-Identifier: MIT
// A cover lies on a file, not on its name: whoever replaces the file outside by a rename, as git does with
// .git/config and editors with .env, or removes it, takes the cover away in every jail (Linux 3.18). This
// watches the directories in which covered names lie, so that they are covered again.
#pragma once

#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"

namespace session {

class CoverWatch {
  public:
    CoverWatch() = default;
    // `mount_namespace`: the jail's. `began`: before the jail was built, by the clock of file systems.
    CoverWatch(const plan::Plan& plan, base::Fd mount_namespace, struct timespec began);

    bool is_empty() const { return !mount_namespace_; }
    int mount_namespace() const { return mount_namespace_.get(); }
    const std::vector<backends::Cover>& covers() const { return covers_; }

    // From here on: adds what is not watched yet, after a replacement too. True at the first call where
    // something may have happened before it.
    bool begin();
    // Readable when something changes; -1: nothing is watched.
    int events() const { return events_.get(); }
    // False where a directory can't be watched, because the user has no watches left for instance.
    bool sees_all() const { return sees_all_; }
    // Whether one of the names is concerned by what happened.
    bool take();
    // The jail is dead; its mounts go with the last descriptor.
    void end();

  private:
    std::vector<backends::Cover> covers_;
    std::map<base::Path, std::set<std::string, std::less<>>> names_;  // in each directory
    std::map<int, base::Path> watched_;                               // by number of the watch
    base::Fd mount_namespace_;
    base::Fd events_;
    struct timespec began_ = {};
    bool sees_all_ = false;
};

// The clock by which a file system says when something was changed.
struct timespec file_system_now();

}  // namespace session
