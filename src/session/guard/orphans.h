// SPDX-License-Identifier: MIT
// If bubblewrap is killed while it makes its namespaces, it leaves a child that waits for it for ever and
// keeps our sockets open. No code of the user runs at that time.
#pragma once

#include <sys/types.h>

#include <vector>

namespace session {

class Orphans {
  public:
    // From here on a process that loses its parent becomes our child, and we can find it. Earlier children of
    // this process are spared: a shell that became this program by exec may have left them.
    Orphans();

    // A helper, which end() must not kill. -1 is ignored.
    void spare(pid_t helper) { spared_.push_back(helper); }

    // Kills and reaps all others that became children since.
    void end() const;
    // The same until no more come: for a jail without a pid namespace whose own reaper was killed.
    void end_all() const;

  private:
    bool is_spared(pid_t child) const;

    std::vector<pid_t> spared_;
};

}  // namespace session
