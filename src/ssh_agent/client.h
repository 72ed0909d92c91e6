// SPDX-License-Identifier: MIT
// One connection to the agent's socket in the jail, with the connection to the user's agent that belongs to
// it. One message is served at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "ssh_agent/filter.h"

namespace ssh_agent {

class Client {
  public:
    // What the server does for its clients.
    struct Host {
        base::EventLoop& loop;
        std::function<void(Client&)> request_agent;  // take_agent() answers
        // Whether a signature may be made; nothing: answer_question() tells it later.
        std::function<std::optional<bool>(Client&, const Use&)> ask;
        std::function<void(const Decision&, bool is_allowed)> report;
        std::function<void(Client&)> close;  // destroys it after this turn
    };
    Client(uint64_t id, base::Fd socket, const Rules& rules, const Host& host);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    uint64_t id() const { return id_; }
    // Not set: the agent can't be reached.
    void take_agent(base::Fd agent);
    void answer_question(bool is_allowed);

  private:
    struct Side {
        base::Fd socket;
        std::string input, output;
        base::EventLoop::SourceId source = 0;
    };
    void serve_client(short events);
    void serve_agent(short events);
    void serve_messages();
    void decide(Decision decision);
    void forward();
    void answer(std::string_view message);
    void lose_agent();
    void close();

    uint64_t id_;
    Filter filter_;
    const Host& host_;
    Side client_, agent_;
    std::optional<Decision> open_;  // waits for the user or for the user's agent
    bool waits_for_agent_ = false;  // requested and not arrived
    bool is_ending_ = false;        // when its output is sent
    bool is_closed_ = false;
};

}  // namespace ssh_agent
