// SPDX-License-Identifier: MIT
// The session's own directory, for backends that can't mount. It is made before the launch and removed when
// the jail is dead (plan::Place), or at the latest when the next session of the same user cleans up.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"

namespace session {

class Place {
  public:
    Place() = default;
    ~Place() { remove(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Makes the directory that the plan wants, if any.
    base::Status make(const plan::Place& wanted);
    bool is_empty() const { return path_.empty(); }
    int descriptor() const { return place_.get(); }  // holds the lock; -1: no directory
    // With everything below it, also files of the jail. Follows no link.
    void remove();

  private:
    std::string path_;
    base::Fd place_;
};

// Removes directories in `parent` of sessions that were killed together with their keepers.
void remove_left_places(const std::string& parent);

}  // namespace session
