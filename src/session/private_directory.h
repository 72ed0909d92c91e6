// SPDX-License-Identifier: MIT
// The session's own directory, for backends that can't mount. It is made before the launch and removed when
// the jail is dead (plan::PrivateDirectory), or at the latest when the next session of the same user cleans
// up.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"

namespace session {

class PrivateDirectory {
  public:
    PrivateDirectory() = default;
    ~PrivateDirectory() { remove(); }
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;

    // Makes the directory that the plan wants, if any.
    base::Status make(const plan::PrivateDirectory& wanted);
    bool is_empty() const { return path_.empty(); }
    int descriptor() const { return directory_.get(); }  // holds the lock; -1: no directory
    // With everything below it, also files of the jail. Follows no link.
    void remove();

  private:
    std::string path_;
    base::Fd directory_;
};

// Removes directories in `parent` of sessions that were killed together with their keepers.
void remove_stale_directories(const std::string& parent);

}  // namespace session
