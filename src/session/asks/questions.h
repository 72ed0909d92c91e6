// SPDX-License-Identifier: MIT
// The questions of one session for its user, and the user's answers to them. Three parts of the session make
// questions: the gateway, commands in the jail (`request`), and the filter of the ssh-agent. Each part has
// its own range of numbers, so that an answer goes to the part that asked.
#pragma once

#include <cstdint>
#include <functional>

#include "base/encoding/json.h"
#include "session/asks/asks.h"
#include "session/control/control.h"
#include "session/helpers/gateway.h"
#include "session/helpers/ssh_agent.h"

namespace session {

// The part of the session that gave a question its number.
enum class Asker { gateway, command, ssh_agent };
Asker asker_of(int64_t id);

class Questions {
  public:
    using Reply = Control::Reply;
    struct Parts {
        Gateway& gateway;
        Asks& asks;
        SshAgent& ssh_agent;
        std::function<void(const base::Json& change, const Reply& reply)> allow_host;
    };
    explicit Questions(Parts parts) : parts_(std::move(parts)) {}

    // The state of the gateway, with "pending" as the questions of all three.
    void ask_state(std::function<void(const base::Json& state)> on_state) const;
    // REQUEST has the number of a question.
    void answer(bool is_approved, const base::Json& request, const Reply& reply) const;

  private:
    void answer_command(bool is_approved, const base::Json& request, const Reply& reply) const;
    void answer_ssh(bool is_approved, const base::Json& request, const Reply& reply) const;
    void answer_gateway(bool is_approved, const base::Json& request, const Reply& reply) const;

    Parts parts_;
};

}  // namespace session
