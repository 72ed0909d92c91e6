// SPDX-License-Identifier: MIT
// Empty directories, and a few files, that hold names which a jail must not create. They are made before the
// launch and taken away when the last session that needs them has ended; one that was there before is never
// touched, and one with content is never lost.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace session {

class Placeholders {
  public:
    // What those hold that are files; the others are directories.
    using Contents = std::map<base::Path, std::string>;

    // Makes those that are missing, with missing parents, but never `project` itself. After an error nothing
    // of it is left.
    static base::Result<Placeholders> acquire(const std::string& state_directory,
                                              std::vector<base::Path> wanted, const Contents& contents = {},
                                              const base::Path& project = {});

    Placeholders(Placeholders&&) = default;
    Placeholders& operator=(Placeholders&&) = default;
    ~Placeholders() { release(); }

    // Takes away what no other session holds, into the trash where that is possible (trash.h): somebody has
    // to empty it. Safe to call again.
    void release();
    // In a forked process, after the other's release(): takes away what somebody else held then. False when
    // that is held still.
    bool release_rest();

    // Makes those again that somebody has removed meanwhile.
    void renew() const;

    bool is_empty() const { return !record_; }
    // The open record; it carries the locks, also for a forked process.
    int descriptor() const { return record_.get(); }
    // Of the project, which may be moved meanwhile.
    int project_descriptor() const { return project_.get(); }

  private:
    explicit Placeholders(std::string state_directory) : state_directory_(std::move(state_directory)) {}

    std::string state_directory_;
    std::set<base::Path> held_;
    Contents contents_;
    base::Path project_path_;
    base::Fd project_;
    base::Fd record_;
};

}  // namespace session
