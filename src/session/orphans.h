// SPDX-License-Identifier: MIT
// bubblewrap, killed while it makes its namespaces, leaves a child that waits for it for ever and holds our
// sockets. Nothing of the user's runs at that time.
#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

namespace session {

class Orphans {
  public:
    // From here on a process that loses its parent becomes our child, and can be found. Children that this
    // process has already are not ours: a shell that became this program may have left them.
    Orphans();

    // Ends and reaps all that became children since, but one.
    void end(pid_t spared) const;
    // The same until no more come: of a jail without a pid namespace whose own reaper was killed. `spared`
    // are our helpers.
    void end_all(std::span<const pid_t> spared) const;

  private:
    std::vector<pid_t> inherited_;
};

}  // namespace session
