// SPDX-License-Identifier: MIT
// What the jails of one Slurm job share on one node: /tmp and /dev/shm, so that the ranks of an MPI program
// find each other, and nobody else. The last jail of the job takes it away; what a killed one left behind
// goes with the next job of the same user.
#pragma once

#include <string>

#include "base/file.h"
#include "base/path.h"

namespace session {

class JobPlace {
  public:
    JobPlace() = default;
    ~JobPlace();
    JobPlace(const JobPlace&) = delete;
    JobPlace& operator=(const JobPlace&) = delete;

    // False: the jail has places of its own, as outside of jobs. `bases` are two directories that everyone
    // can write, for files and for memory.
    bool enter(const std::string& job, const std::string& files = "/tmp",
               const std::string& memory = "/dev/shm");

    // The root where there is none.
    const base::Path& temporary() const { return temporary_; }
    const base::Path& shared_memory() const { return shared_memory_; }
    // A file of the job on this node (job_namespaces.h); empty where there is none.
    std::string record() const { return job_.empty() ? "" : own_ + "/" + job_ + ".ranks"; }

  private:
    std::string own_;  // the directory of this user's jobs below `files`
    std::string own_memory_;
    std::string job_;
    base::Fd lock_;
    base::Path temporary_, shared_memory_;
};

}  // namespace session
