// SPDX-License-Identifier: MIT
// The supervisor's part of `agent-sandbox attach`: it takes a client from the control socket, which has
// checked that the client is outside the jail, and passes its descriptors on to the holder of the terminal.
#pragma once

#include <functional>

#include "base/encoding/json.h"
#include "session/control/control.h"
#include "session/control/session_directory.h"

namespace session {

class Attachments {
  public:
    struct Parts {
        Control& control;
        SessionDirectory& directory;    // its session.json has "terminal"
        int holder = -1;                // -1: the session has its caller's terminal
        std::function<void()> on_lost;  // the holder has gone
    };
    // Handles requests from now on.
    explicit Attachments(Parts parts);
    ~Attachments();
    Attachments(const Attachments&) = delete;
    Attachments& operator=(const Attachments&) = delete;

  private:
    void pass_on(const base::Json& request, Control::Visitor visitor);
    void hear();
    void forget_holder();

    Parts parts_;
};

}  // namespace session
