// SPDX-License-Identifier: MIT
// The session's own directory, where a backend can't mount: made before the launch, gone when the jail is
// dead (plan::Place), or at the latest when the next session of the same user tidies up.
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

    // Makes what the plan wants; nothing where it wants none.
    base::Status make(const plan::Place& wanted);
    bool is_empty() const { return path_.empty(); }
    int descriptor() const { return place_.get(); }  // which holds its lock; -1: there is none
    // With all below, whatever the jail has put there. Follows no link.
    void remove();

  private:
    std::string path_;
    base::Fd place_;
};

// Those in `parent` of sessions that were killed together with their keepers.
void remove_left_places(const std::string& parent);

}  // namespace session
