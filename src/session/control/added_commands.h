// SPDX-License-Identifier: MIT
// The supervisor's part of `agent-sandbox exec`: it checks a request of the control socket, passes it to the
// stage, which starts the command inside, and sends the client what happens to it. The client's connection
// stays open for as long as the command runs; if it closes, the command is ended.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/result.h"
#include "inner/messages.h"
#include "plan/plan.h"
#include "session/control/control.h"

namespace session {

// Whether the session's policy lets this variable of the client in; an error says which rule does not.
using MayPass = std::function<base::Status(std::string_view name, std::string_view value)>;

class AddedCommands {
  public:
    struct Parts {
        const plan::Plan& plan;
        Control& control;
        audit::Writer& record;
        MayPass may_pass;  // not set: none may
        // To the stage. Zero or an errno.
        std::function<int(const inner::SignalRequest&, const std::vector<int>& descriptors)> send;
        // The error of a command that did not start.
        std::function<base::Error(const inner::Report&)> explain;
    };
    // Handles requests from now on.
    explicit AddedCommands(Parts parts);
    ~AddedCommands();
    AddedCommands(const AddedCommands&) = delete;
    AddedCommands& operator=(const AddedCommands&) = delete;

    // The session's own command runs: the stage takes requests.
    void open() { state_ = State::open; }
    // A report of the stage that has a slot.
    void hear(const inner::Report& report);
    // The jail is dead. Returns how many commands ended with it.
    size_t finish();

    // For `inspect`: [{"id":…,"pid":…,"command":…,"age_ms":…}]
    base::Json list() const;

  private:
    using Clock = std::chrono::steady_clock;
    enum class State { starting, open, over };
    struct Running {
        uint64_t id = 0;
        base::Fd client;  // not open: it has gone
        base::Fd timer;   // since it has gone
        std::vector<std::string> command;
        std::string directory;
        int process = 0;  // its pid inside; 0: not started yet
        Clock::time_point began = {};
    };

    void take(const base::Json& request, Control::Visitor visitor);
    base::Result<inner::AddedRequest> check(const base::Json& request,
                                            const std::vector<base::Fd>& descriptors) const;
    base::Status check_environment(const std::vector<std::string>& variables) const;
    base::Status start(inner::AddedRequest request, Control::Visitor& visitor);
    void hear_client(int slot);
    void lose_client(int slot);
    void kill_late(int slot);
    void release(int slot);
    void record(const Running& running, const inner::Report* ending) const;
    static void tell(const Running& running, const base::Json& message);

    Parts parts_;
    State state_ = State::starting;
    std::array<std::optional<Running>, inner::kMostAdded> running_;
    uint64_t last_id_ = 0;
};

}  // namespace session
