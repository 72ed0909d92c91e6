// SPDX-License-Identifier: MIT
// A cover lies on a file, not on its name: whoever replaces the file outside by a rename, as git does with
// .git/config and editors with .env, or removes it, takes the cover away in every jail (Linux 3.18). This
// watches the directories in which covered names lie, so that they are covered again.
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
    // Begins to watch, which has to be before the jail is built.
    explicit CoverWatch(const plan::Plan& plan);

    // Where the covers lie: the jail's. Without one, or without covers, there is nothing to do.
    void set_mount_namespace(base::Fd mount_namespace);
    bool is_empty() const { return !mount_namespace_ || is_over_; }
    int mount_namespace() const { return mount_namespace_.get(); }
    const std::vector<backends::Cover>& covers() const { return covers_; }

    // After the covers were laid again: a directory may be another one now.
    void watch_again();
    // Readable when something changes; -1: nothing is watched.
    int events() const { return is_over_ ? -1 : events_.get(); }
    // False where a directory can't be watched, because the user has no watches left for instance.
    bool sees_all() const { return sees_all_; }
    struct News {
        bool is_concerned = false;  // one of the names came, went or was replaced
        bool is_removed = false;    // it went
        // Git configurations that were written after they had come by a rename: by the jail, since git
        // writes a new one completely before it renames it.
        std::set<base::Path> written;
    };
    News take();
    // The jail is dead: from here on there is nothing to do.
    void say_over() { is_over_ = true; }
    // Its mounts go with the last descriptor, which takes the kernel its time, and so does the end of
    // watches.
    void close();

  private:
    void note_writing(const base::Path& path, uint32_t event, News& news);

    std::vector<backends::Cover> covers_;
    std::map<base::Path, std::set<std::string, std::less<>>> names_;  // in each directory
    std::map<int, base::Path> watched_;                               // by number of the watch
    base::Fd mount_namespace_;
    base::Fd events_;
    std::set<base::Path> renamed_;  // git configurations that came by a rename since the covers were laid
    bool sees_all_ = false;
    bool is_over_ = false;
};

}  // namespace session
