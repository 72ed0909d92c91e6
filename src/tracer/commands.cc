// SPDX-License-Identifier: MIT
#include "tracer/commands.h"

#include <sys/wait.h>

namespace tracer {

End end_of(int wait_status) {
    if (WIFSIGNALED(wait_status)) return {End::Kind::killed, WTERMSIG(wait_status)};
    return {End::Kind::exited, WEXITSTATUS(wait_status)};
}

std::optional<Command> Commands::start(pid_t process, Command command) {
    std::optional<Command> former = take(process);
    running_.emplace(process, std::move(command));
    return former;
}

std::optional<Command> Commands::take(pid_t process) {
    auto found = running_.find(process);
    if (found == running_.end()) return std::nullopt;
    Command command = std::move(found->second);
    running_.erase(found);
    return command;
}

const Command* Commands::find(pid_t process) const {
    auto found = running_.find(process);
    return found == running_.end() ? nullptr : &found->second;
}

std::vector<pid_t> Commands::processes() const {
    std::vector<pid_t> all;
    all.reserve(running_.size());
    for (const auto& [process, command] : running_) all.push_back(process);
    return all;
}

}  // namespace tracer
