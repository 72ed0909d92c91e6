// SPDX-License-Identifier: MIT
// What the jails of one Slurm job share on one node: directories and namespaces.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace session {

// What the jails of one Slurm job share on one node: /tmp and /dev/shm, so that the ranks of an MPI program
// find each other, and no other process does. The last jail of the job removes both. The next job of the same
// user removes what a killed jail left behind.

// Random bytes of this user, the same for all processes that see the state directory. Made if missing.
base::Result<std::string> job_key(const std::string& state_directory);

class JobDirectory {
  public:
    JobDirectory() = default;
    ~JobDirectory();
    JobDirectory(const JobDirectory&) = delete;
    JobDirectory& operator=(const JobDirectory&) = delete;

    // False: the jail has its own /tmp and /dev/shm, as outside of jobs. `files` and `memory` are directories
    // that everyone can write. Threat: another user makes the name first. The key prevents this: only the
    // user's processes can compute the name (tests/session/job_directory_test.cc, tests/slurm/attacks.bats).
    bool enter(const std::string& job, const std::string& key, const std::string& files = "/tmp",
               const std::string& memory = "/dev/shm");

    // "/" if enter() failed.
    const base::Path& temporary() const { return temporary_; }
    const base::Path& shared_memory() const { return shared_memory_; }
    // A file of the job on this node; empty if enter() failed.
    std::string record() const;

  private:
    std::string own_;  // the job's directory below `files`
    std::string own_memory_;
    base::Fd lock_;
    base::Path temporary_, shared_memory_;
};

// The namespaces that the ranks of a job share on one node. MPI libraries exchange data on a node through
// shared memory, and use it only between processes of the same ipc namespace. With one namespace for each
// jail the ranks could not reach each other; with the host's they would see the objects of all users. NCCL
// passes descriptors between ranks over abstract Unix sockets. On an open network these are made in one
// network namespace for all ranks of the job (doorman/answers/abstract_names.h).

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
