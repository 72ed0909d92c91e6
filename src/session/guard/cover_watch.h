// SPDX-License-Identifier: MIT
// A cover is mounted on a file, not on its name. A rename over the file (git does so with .git/config,
// editors with .env) or a removal outside unmounts the cover in every jail (since Linux 3.18). This class
// watches the directories of covered names, so that the keeper can cover them again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"

namespace session {

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
    // The jail is dead: nothing is left to do.
    void say_over() { is_over_ = true; }
    // Takes time: closing the last descriptor makes the kernel unmount everything in the namespace and remove
    // the watches.
    void close();

  private:
    void note_writing(const base::Path& path, uint32_t event, News& news);

    std::vector<backends::Cover> covers_;
    std::map<base::Path, std::set<std::string, std::less<>>> names_;  // in each directory
    std::map<int, base::Path> watched_;                               // by number of the watch
    base::Fd mount_namespace_;
    base::Fd events_;
    std::set<base::Path> renamed_;  // git configurations that a rename put in place since the last covers
    bool sees_all_ = false;
    bool is_over_ = false;
};

}  // namespace session
