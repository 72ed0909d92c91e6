// SPDX-License-Identifier: MIT
// The common way from argument words, environment and files to a plan. Each step is made once, in order, and
// only as far as a verb needs: `config show` stops at the settings, `doctor` at the facts, `run` goes to the
// end.
#pragma once

#include <string>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "config/files/sources.h"
#include "config/profile.h"
#include "host/facts.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "plan/request.h"
#include "policy/merge.h"
#include "policy/policy.h"

namespace cli {

// A backend that fails on this machine for a reason that only a launch can find (host/trial.h).
struct BackendFailure {
    base::Backend backend;
    std::string reason;
};

// What the process was started with, and the disk as it sees it: every name is looked at once for all steps.
struct Caller {
    std::vector<std::string> environment;  // "NAME=value"
    base::Path working_directory;
    host::DiskTree disk;
    // Where Slurm is the caller.
    std::optional<plan::JobRequest> job;
    std::string job_session;          // that the job came from
    std::vector<int> job_namespaces;  // that its ranks share
    std::vector<int> job_socket_namespaces;
    // Take the home directory from HOME, even under an administrator's ceiling. Only the self-test sets it,
    // because it makes a home directory of its own.
    bool has_planted_home = false;
    std::vector<BackendFailure> failures;
};
Caller probe_environment();
base::Status probe_working_directory(Caller& caller);

// The calling user and the project.
struct Workspace {
    host::Identity identity;
    config::Places files;
    base::Path project;           // as given
    base::Path physical_project;  // what configuration is matched against and trust is kept for
    std::string project_origin;
};
base::Result<Workspace> find_workspace(const Caller& caller, const Arguments& arguments);

// The agent that a command is, and those that it is not.
struct Agents {
    std::optional<config::Profile> chosen;
    std::vector<config::Profile> others;
};

struct Settings {
    Workspace workspace;
    Agents agents;
    policy::Layers layers;
    policy::Effective effective;
    policy::Policy policy;
};
base::Result<policy::Layers> read_layers(const Workspace& workspace, const Caller& caller,
                                         const Arguments& arguments);
// Paths are compared as this disk resolves them.
policy::PathMeaning path_meaning(const host::Tree& disk, const base::Path& home);
base::Result<Settings> load_settings(const Caller& caller, const Arguments& arguments);

struct Planned {
    Settings settings;
    host::Facts facts;
    plan::Plan plan;
};
base::Result<Planned> make_plan(const Caller& caller, const Arguments& arguments, const std::string& session,
                                const std::vector<std::string>& command);
// With settings that are known already.
base::Result<Planned> plan_with(const Caller& caller, Settings settings, const std::string& session,
                                const std::vector<std::string>& command);

// What the backends need to be chosen from, as far as the best ones don't settle it: a launch by this program
// itself looks for no other.
void probe_backends(const Caller& caller, const policy::Policy& policy, host::Facts& facts);

// `path` with the home directory written as ~, for messages.
std::string shortened(const base::Path& path, const base::Path& home);

// A path as a user writes it for a verb: absolute, from ~, or relative to the working directory.
base::Result<base::Path> path_from(std::string_view text, const base::Path& home,
                                   const base::Path& working_directory);

}  // namespace cli
