// SPDX-License-Identifier: MIT
// A process beside the keeper that goes on with the search of the project while the session runs, covers what
// it finds and what appears later (project_walk.h, late_names.h), and writes down what the next launch should
// know (known_places.h). It ends with its keeper.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/covers.h"
#include "plan/plan.h"
#include "session/search_progress.h"

namespace session {

class SearchGuard {
  public:
    SearchGuard(const plan::Plan& plan, std::string state_directory, SearchProgress& progress)
        : plan_(plan), state_directory_(std::move(state_directory)), progress_(progress) {}

    // Whether there is anything to look for.
    bool is_wanted() const;
    // In the keeper, as soon as the jail's mounts are known. `covers` are those of the launch.
    void start(int mount_namespace, const std::vector<backends::Cover>& covers);
    // The jail is dead, or the session is over.
    void end();

  private:
    [[noreturn]] void run(int mount_namespace, const std::vector<backends::Cover>& covers);

    const plan::Plan& plan_;
    std::string state_directory_;
    SearchProgress& progress_;
    pid_t process_ = -1;
};

}  // namespace session
