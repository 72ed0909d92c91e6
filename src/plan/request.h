// SPDX-License-Identifier: MIT
// What the caller asks for, beside the settings: a command, a project, an environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"

namespace plan {

// The jail is that of a Slurm job or step.
struct JobRequest {
    std::string spec;            // for the payload inside (slurm/entry)
    uint64_t project_inode = 0;  // of the project that the job was submitted from
    bool is_batch = false;
    std::string script;                        // of a batch job
    std::vector<int> descriptors;              // that tie the ranks of a job together
    unsigned rank_on_node = 0;                 // their numbers as processes must differ
    std::vector<base::Path> rank_directories;  // of Slurm's, in which they meet
    // On this node, for all jails of the job; the root: there are none.
    base::Path temporary, shared_memory;
};

// What modules did to the environment (modules.load).
struct LoadedModules {
    std::vector<std::string> set;                 // names of variables, sorted
    std::vector<std::string> search_places;       // directories that they put on search paths
    std::vector<std::string> environment_before;  // where modules must not decide; empty: there are none
};

struct Request {
    base::Path project;          // as given, absolute; the plan resolves it
    std::string project_origin;  // "--project" or "the current directory"
    base::Path working_directory;
    std::vector<std::string> command;      // words, untouched
    std::vector<std::string> environment;  // "NAME=value", the caller's, with what modules made of it
    std::string session;                   // id, set in the jail's environment
    base::Path config_directory;           // the sandbox's own, of this caller
    base::Path state_directory;
    std::vector<base::Path> runtime_places;  // where sessions of this user may have their directories
    std::optional<JobRequest> job;
    LoadedModules modules;

    // The caller's own, for what is a matter of policy.
    const std::vector<std::string>& policy_environment() const {
        return modules.environment_before.empty() ? environment : modules.environment_before;
    }
};

}  // namespace plan
