// SPDX-License-Identifier: MIT
// What the caller asks for besides the settings: a command, a project, an environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "policy/policy.h"

namespace plan {

// For the jail of a Slurm job or step.
struct JobRequest {
    std::string spec;            // for the payload inside (slurm/entry)
    uint64_t project_inode = 0;  // of the project that the job was submitted from
    bool is_batch = false;
    std::string script;                        // of a batch job
    std::vector<int> descriptors;              // that connect the ranks of a job
    unsigned rank_on_node = 0;                 // ranks on one node need different pids
    std::vector<base::Path> rank_directories;  // of Slurm, in which ranks exchange files
    // On this node, shared by all jails of the job; the root: not used.
    base::Path temporary, shared_memory;
};

// What modules did to the environment (modules.load).
struct LoadedModules {
    std::vector<std::string> set;                 // names of variables, sorted
    std::vector<std::string> search_places;       // directories that they added to search paths
    std::vector<std::string> environment_before;  // for decisions of policy; empty: no modules
};

struct Request {
    base::Path project;          // as given, absolute; the plan resolves it
    std::string project_origin;  // "--project" or "the current directory"
    base::Path working_directory;
    std::vector<std::string> command;      // unchanged
    std::vector<std::string> environment;  // "NAME=value", the caller's, as changed by modules
    std::string session;                   // id, set in the jail's environment
    base::Path config_directory;           // the sandbox's own, of this caller
    base::Path state_directory;
    std::vector<base::Path> runtime_places;  // where this user's sessions may have their directories
    // For a session with cow.enabled: the directory of its layer (layers/store.h).
    base::Path layer;
    // What the layer is, if it exists; of a new one, why the kernel can't have an overlay (empty: it can).
    std::optional<policy::CowEngine> layer_engine;
    std::string overlay_obstacle;
    std::optional<JobRequest> job;
    LoadedModules modules;

    // The caller's own environment, for policy decisions.
    const std::vector<std::string>& policy_environment() const {
        return modules.environment_before.empty() ? environment : modules.environment_before;
    }
};

}  // namespace plan
