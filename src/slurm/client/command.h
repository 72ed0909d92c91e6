// SPDX-License-Identifier: MIT
// The command of salloc, run inside the jail while the allocation is held outside. With a terminal it has a
// process group of its own in the foreground, as under a shell with job control.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace slurm::client {

class UserCommand {
  public:
    // `arguments` are those of salloc; `variables` ("NAME=value") are added to the environment.
    static UserCommand start(std::span<const std::string> arguments,
                             const std::vector<std::string>& variables);

    bool is_running() const { return child_ > 0; }
    // A child may have changed its state. The status for the chaperon when the command has ended.
    std::optional<int> look();
    // A signal that the stub got meanwhile.
    void signal(int number);
    // The stub goes on after a stop: the command does so too.
    void resume() const;
    // The allocation is gone.
    void end();

  private:
    void take_terminal() const;

    pid_t child_ = -1;
    bool has_terminal_ = false;  // and so a group of its own
    bool is_shell_ = false;
    bool is_hung_up_ = false;  // the stub was, and passed it on: salloc calls that a failure
    std::optional<int> failure_;
};

// What salloc's own status is when its command ends so.
int status_of_command(int wait_status);

}  // namespace slurm::client
