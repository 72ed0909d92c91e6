// SPDX-License-Identifier: MIT
// The filter of the user's ssh-agent as the supervisor sees it: a process beside the jail
// (ssh_agent/serve.h). The supervisor forks it when a client connects for the first time, and gives it
// connections to the user's agent, of which it reads nothing. It ends with the session.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/result.h"
#include "plan/plan.h"
#include "session/control/record.h"
#include "session/control/session_directory.h"

namespace session {

class SshAgent {
  public:
    SshAgent() = default;
    ~SshAgent() { end(); }
    SshAgent(const SshAgent&) = delete;
    SshAgent& operator=(const SshAgent&) = delete;

    // Makes the socket, before the jail is built.
    base::Status open(const std::string& directory, const std::string& name);
    const std::string& path() const { return socket_.path(); }
    void forget_name() { socket_.forget_name(); }
    pid_t process() const { return process_; }  // -1: not running

    // Stores what the process needs. Both must outlive this object.
    void get_ready(const plan::Ssh& ssh, const Record& record);
    // Readable when take() has work: the first client connects, or the process sends something.
    int events() const;
    void take();

    // A JSON object with "pending"; empty if the process does not run.
    using OnState = std::function<void(const base::Json& state)>;
    void ask_state(OnState on_state);
    void approve(uint64_t id, bool is_once) const;
    void deny(uint64_t id, std::string_view reason) const;

    void end();

  private:
    void start();
    void pass_agent() const;
    void send(std::string_view order, base::Fd descriptor = {}) const;
    void finish_state();
    void lose();

    struct Waiting {
        OnState on_state;
        base::Fd answer;  // the process writes to this file
    };
    const plan::Ssh* ssh_ = nullptr;
    const Record* record_ = nullptr;
    NamedSocket socket_;
    base::Fd control_;
    pid_t process_ = -1;
    std::deque<Waiting> waiting_;
};

}  // namespace session
