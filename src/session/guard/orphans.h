// SPDX-License-Identifier: MIT
// If bubblewrap is killed while it makes its namespaces, it leaves a child that waits for it for ever and
// keeps our sockets open. No code of the user runs at that time.
#pragma once

#include <sys/types.h>

#include <string_view>
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

// Processes that bubblewrap leaves behind if a session is killed while its namespaces are made.

// Kills those of this user.
void end_left_builders();

// For tests: whether a process with this command line (words end with NUL) and this /proc/PID/status is one.
// `own_numbers` is how many pids a process of our own pid namespace has.
bool is_left_builder(std::string_view command_line, std::string_view status, size_t own_numbers,
                     std::string_view name_of_parent);

}  // namespace session
