// SPDX-License-Identifier: MIT
// The namespaces that the ranks of a job share on one node. MPI libraries exchange data on a node through
// shared memory, and use it only between processes of the same ipc namespace. With one namespace for each
// jail the ranks could not reach each other; with the host's they would see the objects of all users. NCCL
// passes descriptors between ranks over abstract Unix sockets. On an open network these are made in one
// network namespace for all ranks of the job (doorman/answers/socket_factory.h).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace session {

class JobNamespaces {
  public:
    // Finds the namespaces of the job, or makes them, and keeps them open. Does not enter them. `record` is a
    // file of the job on this node. Where the host does not allow it, each jail has its own ipc namespace.
    void join(const std::string& record);

    // To be entered in this order; empty: not shared.
    std::vector<int> descriptors() const;
    std::vector<int> socket_descriptors() const;

  private:
    bool open_of(pid_t holder);
    bool make(int record);

    base::Fd user_, ipc_, net_;
    base::Fd life_;  // connected to the holder, if this process started it
};

}  // namespace session
