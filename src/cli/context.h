// SPDX-License-Identifier: MIT
// The common way from argument words, environment and files to a plan. Each step is made once, in order, and
// only as far as a verb needs: `config show` stops at the settings, `doctor` at the facts, `run` goes to the
// end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "config/files/sources.h"
#include "config/profile.h"
#include "credentials/resolve.h"
#include "host/facts.h"
#include "host/tree.h"
#include "layers/store.h"
#include "plan/plan.h"
#include "plan/request.h"
#include "policy/merge.h"
#include "policy/policy.h"
#include "session/detached/detached_run.h"
#include "session/early_child.h"
#include "session/helpers/certificates.h"

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
    session::DetachedRun* detached = nullptr;  // of --detach
    // A running session is planned again: its placeholders and certificates stay, so none are made.
    bool is_planning_again = false;
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
    std::string root_line;  // for the user, if the project is a part of a repository (project_root.h)
};
base::Result<Workspace> find_workspace(const Caller& caller, const Arguments& arguments);

// The agents whose profiles count, and the others.
struct Agents {
    std::vector<config::Profile> chosen;
    std::vector<config::Profile> others;
    bool is_refused = false;  // by "none": a session without profiles is on purpose
};

struct Settings {
    Workspace workspace;
    Agents agents;
    policy::Layers layers;
    policy::Effective effective;
    policy::Policy policy;
    credentials::Resolved credentials;  // and the rules about requests
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
    std::optional<layers::Layer> layer = std::nullopt;  // of a plan that is layered
    // Of a launch with credentials or request rules; null: nothing is intercepted.
    std::shared_ptr<session::Certificates> certificates = nullptr;
};
base::Result<Planned> make_plan(const Caller& caller, const Arguments& arguments, const std::string& session,
                                const std::vector<std::string>& command);

// A plan that a launch may use at once. Its list of private files in /etc may be that of the last launch.
// Then the search for the present one is not over.
struct EarlyPlan {
    Planned planned;
    bool is_guess = false;
    std::unique_ptr<session::EarlyChild> child;  // becomes the jail; null: none
};
base::Result<EarlyPlan> make_early_plan(const Caller& caller, const Arguments& arguments,
                                        const std::string& session, const std::vector<std::string>& command);
// Call it before the command starts. False: the list has changed, and the plan must be made again.
base::Result<bool> is_still_true(const EarlyPlan& plan);

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
