// SPDX-License-Identifier: MIT
// What the chaperon knows for the whole session. Everything in it comes from outside the jail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "slurm/chaperon/clients.h"

namespace slurm::chaperon {

// Which of the user's jobs can be seen and touched from the jail (slurm.scope).
enum class Scope { none, user, project, session };

struct Context {
    std::string session;         // 32 hexadecimal digits; jobs of jobs carry the same one
    base::Path project;          // physical
    uint64_t project_inode = 0;  // at the start of the session
    Scope scope = Scope::project;
    uint32_t uid = 0;
    std::string user;  // the account's name
    base::Path home;
    bool mail_is_closed = true;
    std::string program;                   // this program's path on every node
    std::string state_directory;           // $XDG_STATE_HOME/agent-sandbox: never seen from the jail
    std::string launcher_job;              // the allocation that the session was started in; empty: none
    std::vector<std::string> environment;  // all that real commands get, "NAME=value"
    // What the jail of a job is asked for, beside the node's own files: options of the program, and variables
    // of its settings.
    std::vector<std::string> job_options;
    std::vector<std::string> job_variables;
    Clients clients;
};

}  // namespace slurm::chaperon
