// SPDX-License-Identifier: MIT
// Slurm's chaperon as the supervisor sees it: a process beside the jail that runs Slurm's real commands for
// the stubs inside (slurm/chaperon). The supervisor forks it when a stub connects for the first time. It ends
// with the session.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "session/control/record.h"
#include "session/control/session_directory.h"
#include "session/session.h"

namespace session {

class Chaperon {
  public:
    Chaperon() = default;
    ~Chaperon() { end(); }
    Chaperon(const Chaperon&) = delete;
    Chaperon& operator=(const Chaperon&) = delete;

    // Makes the socket, before the jail is built.
    base::Status open(const std::string& directory, const std::string& name);
    const std::string& path() const { return socket_.path(); }
    void forget_name() { socket_.forget_name(); }
    pid_t process() const { return process_; }  // -1: not running

    // Stores what start() needs. `open_files` is the caller's own limit, which jobs inherit. The chaperon
    // writes refusals and submissions to `record`. All references must outlive this object.
    void get_ready(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options,
                   uint64_t open_files, const Record* record = nullptr);
    // Readable when a stub connects and the process does not run yet; -1 otherwise.
    int events() const { return process_ < 0 && ready_ ? socket_.get() : -1; }
    // Starts the process. If that fails, the jail runs without Slurm, and the stubs print an error.
    void start();
    void end();

  private:
    struct Ready {
        const plan::Plan& plan;
        const host::Facts& facts;
        const SessionOptions& options;
        uint64_t open_files;
        uint64_t project_inode;  // when the session began
        const Record* record;
    };
    std::optional<Ready> ready_;
    NamedSocket socket_;
    base::Fd life_;
    pid_t process_ = -1;
};

}  // namespace session
