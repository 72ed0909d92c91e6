// SPDX-License-Identifier: MIT
// Takes placeholders away when the supervisor could not, because it was killed: a forked process that waits
// for its death, then for the jail's, and then does what the supervisor would have done.
#pragma once

#include <sys/types.h>

#include "base/file.h"
#include "session/placeholders.h"

namespace session {

class Keeper {
  public:
    Keeper() = default;
    ~Keeper() { dismiss(); }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    // Does nothing where there is nothing to keep, or without a pidfd (-1): then the next launch cleans up.
    void start(Placeholders& placeholders, int stage);
    void dismiss();

  private:
    pid_t process_ = -1;
    base::Fd life_;  // the writing end of a pipe that closes when the supervisor ends
};

}  // namespace session
