// SPDX-License-Identifier: MIT
// What the jails of one Slurm job share on one node: /tmp and /dev/shm, so that the ranks of an MPI program
// find each other, and no other process does. The last jail of the job removes both. The next job of the same
// user removes what a killed jail left behind.
#pragma once

#include <string>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace session {

// Random bytes of this user, the same for all processes that see the state directory. Made if missing.
base::Result<std::string> job_key(const std::string& state_directory);

class JobPlace {
  public:
    JobPlace() = default;
    ~JobPlace();
    JobPlace(const JobPlace&) = delete;
    JobPlace& operator=(const JobPlace&) = delete;

    // False: the jail has its own /tmp and /dev/shm, as outside of jobs. `files` and `memory` are directories
    // that everyone can write. Threat: another user makes the name first. The key prevents this: only the
    // user's processes can compute the name (tests/session/job_place_test.cc, tests/slurm/attacks.bats).
    bool enter(const std::string& job, const std::string& key, const std::string& files = "/tmp",
               const std::string& memory = "/dev/shm");

    // "/" if enter() failed.
    const base::Path& temporary() const { return temporary_; }
    const base::Path& shared_memory() const { return shared_memory_; }
    // A file of the job on this node (job_namespaces.h); empty if enter() failed.
    std::string record() const;

  private:
    std::string own_;  // the job's directory below `files`
    std::string own_memory_;
    base::Fd lock_;
    base::Path temporary_, shared_memory_;
};

}  // namespace session
