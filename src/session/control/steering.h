// SPDX-License-Identifier: MIT
// The requests of a user to a running session, as handlers of its control socket: show its state, end it,
// change a rule, answer a question.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "plan/plan.h"
#include "session/control/control.h"
#include "session/control/live_rules.h"
#include "session/control/session_directory.h"
#include "session/helpers/gateway.h"

namespace session {

class Steering {
  public:
    struct Parts {
        const plan::Plan& plan;
        const SessionDirectory& directory;
        Gateway& gateway;
        LiveRules& live;
        std::function<pid_t()> stage;  // the jail's pid 1; -1: not known yet
        std::function<void(bool at_once)> stop;
    };
    // Handles requests from now on.
    Steering(Control& control, Parts parts);
    Steering(const Steering&) = delete;
    Steering& operator=(const Steering&) = delete;

  private:
    using Reply = Control::Reply;
    void tell_status(const Reply& reply);
    void stop(const base::Json& request, const Reply& reply);
    void change(bool is_allowed, const base::Json& request, const Reply& reply);
    void reload(const Reply& reply);
    void answer(bool is_approved, const base::Json& request, const Reply& reply);
    base::Json limits() const;

    Parts parts_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace session
