// SPDX-License-Identifier: MIT
// The programs that run in a jail, from their execution to their end. Pure: pids and times come from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

using Clock = std::chrono::steady_clock;

struct Command {
    std::vector<std::string> words;
    std::string directory;
    Clock::time_point started;
};

// How a command ended.
struct End {
    enum class Kind { exited, killed, replaced, running, unknown };
    Kind kind = Kind::running;
    int number = 0;  // exited: the status; killed: the signal
};

// From the status of a process that wait(2) returns.
End end_of(int wait_status);

class Commands {
  public:
    // Returns the command that it replaces, if the process already ran one.
    std::optional<Command> start(pid_t process, Command command);
    std::optional<Command> take(pid_t process);
    const Command* find(pid_t process) const;
    size_t size() const { return running_.size(); }
    std::vector<pid_t> processes() const;

  private:
    std::map<pid_t, Command> running_;
};

}  // namespace tracer
