// SPDX-License-Identifier: MIT
// Empty directories, and a few files, that occupy names which a jail must not create. They are made before
// the launch and removed when the last session that needs them has ended. A file or directory that existed
// before is never touched, and one with content is never removed.
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
    // The content of placeholders that are files; the others are directories.
    using Contents = std::map<base::Path, std::string>;

    // Makes the missing ones, with missing parents, but never `project` itself. After an error those that
    // were made are removed again.
    static base::Result<Placeholders> acquire(const std::string& state_directory,
                                              std::vector<base::Path> wanted, const Contents& contents = {},
                                              const base::Path& project = {});

    Placeholders(Placeholders&&) = default;
    Placeholders& operator=(Placeholders&&) = default;
    ~Placeholders() { release(); }

    // Removes those that no other session holds, into the trash if possible (trash.h); the keeper empties it.
    // Safe to call again.
    void release();
    // Call it before release() if a placeholder was uncovered: the jail may have put something in its place.
    void expect_content() { may_have_content_ = true; }
    // In a forked process, after the parent's release(): removes those that another session held then. False
    // if one still holds them.
    bool release_rest();

    // Makes those again that another process removed meanwhile.
    void renew() const;

    bool is_empty() const { return !record_; }
    // The open record; it owns the locks, also for a forked process.
    int descriptor() const { return record_.get(); }
    // An open descriptor of the project, which may be moved meanwhile.
    int project_descriptor() const { return project_.get(); }

  private:
    explicit Placeholders(std::string state_directory) : state_directory_(std::move(state_directory)) {}

    std::string state_directory_;
    std::set<base::Path> held_;
    Contents contents_;
    base::Path project_path_;
    base::Fd project_;
    base::Fd record_;
    bool may_have_content_ = false;
};

}  // namespace session
