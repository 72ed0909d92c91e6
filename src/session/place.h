// SPDX-License-Identifier: MIT
// The session's own directory, where a backend can't mount: made before the launch, gone when the jail is
// dead (plan::Place).
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
    // With all below, whatever the jail has put there. Follows no link.
    void remove();
    // Another process removes it.
    void forget() { path_.clear(); }

  private:
    std::string path_;
};

}  // namespace session
