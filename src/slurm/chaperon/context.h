// SPDX-License-Identifier: MIT
// The chaperon's data for the whole session. Everything in it comes from outside the jail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/path.h"
#include "policy/choices.h"
#include "slurm/chaperon/clients.h"

namespace slurm::chaperon {

using Scope = policy::SlurmScope;

struct Context {
    std::string session;         // 32 hexadecimal digits; jobs that a job submits have the same one
    base::Path project;          // physical
    uint64_t project_inode = 0;  // at the start of the session
    Scope scope = Scope::project;
    uint32_t uid = 0;
    std::string user;  // the account's name
    base::Path home;
    bool mail_is_closed = true;
    std::string program;                   // this program's path on every node
    std::string state_directory;           // $XDG_STATE_HOME/agent-sandbox: never visible in the jail
    std::string launcher_job;              // the allocation in which the session was started; may be empty
    std::vector<std::string> environment;  // the whole environment of the real commands, "NAME=value"
    // Settings for the jail of a job, in addition to the node's own files: options of the program, and
    // variables of its settings.
    std::vector<std::string> job_options;
    std::vector<std::string> job_variables;
    Clients clients;
};

}  // namespace slurm::chaperon
