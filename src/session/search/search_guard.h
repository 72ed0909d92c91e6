// SPDX-License-Identifier: MIT
// A child of the keeper that continues the search of the project while the session runs. It covers what it
// finds and what appears later (project_walk.h, name_watch.h), and writes the places that it found for the
// next launch (search_progress.h). It ends with its keeper.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"
#include "plan/plan.h"
#include "session/search/search_progress.h"

namespace session {

class SearchGuard {
  public:
    SearchGuard(const plan::Plan& plan, std::string state_directory, SearchProgress& progress)
        : plan_(plan), state_directory_(std::move(state_directory)), progress_(progress) {}

    // Whether there is anything to look for.
    bool is_wanted() const;
    // Opens the inotify instance, before the command runs: the command could take the last one. False: the
    // user has none left.
    bool open_watch();
    int watch() const { return watch_.get(); }
    // In the supervisor, when the keeper has it.
    void close_watch() { watch_.reset(); }
    // In the keeper, as soon as the jail's mounts are known. Where the launch has searched everything, the
    // process starts only with take_turn(): a short command then never pays for it.
    void start(base::Fd mount_namespace, const std::vector<backends::Cover>& covers);
    // Milliseconds until take_turn() is due; -1: never.
    int patience() const;
    // `covers` are those of the launch.
    void take_turn(const std::vector<backends::Cover>& covers);
    // The jail is dead, or the session is over.
    void end();

  private:
    using Clock = std::chrono::steady_clock;

    [[noreturn]] void run(const std::vector<backends::Cover>& covers);

    const plan::Plan& plan_;
    std::string state_directory_;
    SearchProgress& progress_;
    base::Fd watch_;
    base::Fd mount_namespace_;  // while the process is still to be started
    Clock::time_point due_;
    pid_t process_ = -1;
};

}  // namespace session
