// SPDX-License-Identifier: MIT
// Commands that the supervisor adds to a running jail (`agent-sandbox exec`). The stage forks each of them,
// so a command inherits the namespaces, the keyring and the filter of the stage, and goes through the same
// steps as the session's own command. No process enters the jail from outside.
//
// Only the supervisor can ask: the request and the command's descriptors come over the control socket, which
// no other process of the jail holds. A request that can't be carried out produces a report, and never ends
// the stage.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "inner/launch_spec.h"
#include "inner/messages.h"
#include "landlock/wall.h"

namespace inner {

class AddedCommands {
  public:
    struct Parts {
        const LaunchSpec& spec;
        const landlock::Built& wall;
        base::EventLoop& loop;
        // Answers the calls of a command that has a listener of its own (start.cc). `can_answer` is false if
        // there are too many.
        std::function<bool()> can_answer;
        std::function<void(base::Fd listener)> answer;
    };
    explicit AddedCommands(Parts parts) : parts_(std::move(parts)) {}
    AddedCommands(const AddedCommands&) = delete;
    AddedCommands& operator=(const AddedCommands&) = delete;

    // A frame that has a slot, with the descriptors that came with it.
    void obey(const SignalRequest& request, std::vector<base::Fd> descriptors);
    // A child has ended. True: it was one of these.
    bool reap(pid_t process, int status);
    // Whether a descriptor leads to a terminal that came with a command, also after its end.
    bool is_passed_terminal(int terminal);

  private:
    struct Running {
        pid_t process = -1;
        base::Fd failures;  // closed by a successful exec; not open: that was reported
        std::string failure;
        base::EventLoop::SourceId source = 0;
    };
    // A terminal that a command got. The descriptor only names it (O_PATH): it does not keep it open.
    struct Terminal {
        base::Fd name;
        bool is_controlling = false;
    };
    void start(int slot, std::vector<base::Fd> descriptors);
    int remember_terminals(const AddedRequest& request, const std::vector<base::Fd>& standard);
    void forget_closed_terminals();
    int start_process(const AddedRequest& request, const std::vector<base::Fd>& standard, Running& running);
    void hear_start(int slot);
    void read_failure(Running& running, int slot);
    void report_failed(int slot, const std::string& object, int number) const;

    Parts parts_;
    std::map<int, Running> running_;
    std::vector<Terminal> terminals_;
};

}  // namespace inner
