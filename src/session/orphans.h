// SPDX-License-Identifier: MIT
// bubblewrap, killed while it makes its namespaces, leaves a child that waits for it for ever and holds our
// sockets. Nothing of the user's runs at that time.
#pragma once

#include <sys/types.h>

#include <vector>

namespace session {

class Orphans {
  public:
    // From here on a process that loses its parent becomes our child, and can be found. Children that this
    // process has already are not ours: a shell that became this program may have left them.
    Orphans();

    // One that is ours: a helper. -1: nobody.
    void spare(pid_t helper) { spared_.push_back(helper); }

    // Ends and reaps all others that became children since.
    void end() const;
    // The same until no more come: of a jail without a pid namespace whose own reaper was killed.
    void end_all() const;

  private:
    bool is_spared(pid_t child) const;

    std::vector<pid_t> spared_;
};

}  // namespace session
