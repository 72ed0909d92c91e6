// SPDX-License-Identifier: MIT
// The command of salloc, run inside the jail while the allocation exists outside. With a terminal it has a
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
    // A child may have changed its state. Returns the status for the chaperon if the command has ended.
    std::optional<int> look();
    // Passes on a signal that the stub received.
    void signal(int number);
    // The stub continues after a stop: continue the command too.
    void resume() const;
    // The allocation has ended: end the command.
    void end();

  private:
    void take_terminal() const;

    pid_t child_ = -1;
    bool has_terminal_ = false;  // and then a process group of its own
    bool is_shell_ = false;
    bool is_hung_up_ = false;  // the stub received SIGHUP and passed it on; salloc reports this as a failure
    std::optional<int> failure_;
};

// salloc's own exit status for this end of its command.
int status_of_command(int wait_status);

}  // namespace slurm::client
