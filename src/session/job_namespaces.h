// SPDX-License-Identifier: MIT
// The ipc namespace that the ranks of a job share on one node. MPI libraries exchange data on a node through
// shared memory, and take two processes for neighbours only when they are in the same ipc namespace; with one
// for each jail they would find no way to each other, and with the host's they would see everybody's objects.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace session {

class JobNamespaces {
  public:
    // Enters nothing itself: finds those of the job, or makes them, and keeps them open. `record` is a file
    // of the job on this node. Where the host lets nobody make them there are none, and each jail has its
    // own.
    void join(const std::string& record);

    // To be entered in this order; empty: none.
    std::vector<int> descriptors() const;

  private:
    bool open_of(pid_t holder);
    bool make(int record);

    base::Fd user_, ipc_;
    base::Fd life_;  // the holder's, where it is ours
};

}  // namespace session
