// SPDX-License-Identifier: MIT
// Commits of a layer for the repository of its project. git runs on both sides of a fetch. The side that
// sends reads files that an agent wrote, so it runs in a jail with the layer. The side that receives is the
// user's git in the project. It checks every object, as in a fetch from any other repository.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/context.h"
#include "cli/verbs.h"
#include "layers/changes.h"
#include "layers/store.h"

namespace cli {

// git's own lock of repositories (index.lock), so that no git of the user writes one while its files change.
class RepositoryLocks {
  public:
    // For the repositories of the project that have one of these names, relative to the project. An error:
    // git uses one of them. A lock that a killed apply has left is taken over.
    static base::Result<RepositoryLocks> take(int project, const std::vector<std::string>& paths);
    RepositoryLocks(RepositoryLocks&&) = default;
    RepositoryLocks(const RepositoryLocks&) = delete;
    RepositoryLocks& operator=(const RepositoryLocks&) = delete;
    RepositoryLocks& operator=(RepositoryLocks&&) = delete;
    ~RepositoryLocks();

  private:
    RepositoryLocks() = default;
    std::vector<base::Fd> repositories_;
};

// The lock of a repository in a layer, which would stop every git in the project.
bool is_repository_lock(std::string_view path);

// The branches that these changes of a layer make or move: "main", or "*" if the layer has packed them.
std::vector<std::string> branches_in(const std::vector<layers::Change>& changes);

// "agent/4f2a/": what the names of fetched branches begin with.
std::string branch_prefix(const layers::Layer& layer);

// Fetches branches of the layer as branches of the project, below branch_prefix(). No session and no command
// may use the layer.
base::Status fetch_branches(const Invocation& call, const layers::Layer& layer,
                            const std::vector<std::string>& branches);

// Merges the changes of the user into a file of the layer that is in conflict, where both touched different
// lines. The base is the file in git's index when the session started. False: it stays in conflict. The layer
// is changed, the project is not.
bool merge_into_layer(const Invocation& call, const layers::Layer& layer, const layers::Change& change);

// One commit with these files of the layer, on top of the layer's own HEAD, as a new branch of the project.
// Files that git ignores are left out.
struct BranchRequest {
    std::string name;
    std::string message;
    std::vector<std::string> files;  // relative to the project; one that is missing in the layer is deleted
};
base::Status make_branch(const Invocation& call, const layers::Layer& layer, const BranchRequest& request);

// Files that these branches of the project add or change, beside those of its HEAD. "a/*" means all below.
base::Result<std::vector<std::string>> files_of_branches(const Invocation& call, const layers::Layer& layer,
                                                         const std::vector<std::string>& branches);

}  // namespace cli
