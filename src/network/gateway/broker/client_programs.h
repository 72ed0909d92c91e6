// SPDX-License-Identifier: MIT
// Which program opened a connection whose TLS is read, for the message to the user if the program does not
// trust the session's certificate. The gateway can't see the jail's processes: the supervisor looks for the
// socket. A client that refuses a certificate often exits at once, so the question comes before the
// handshake, and the handshake waits for the answer. A jail can open thousands of connections, so only kBurst
// of them, and then kPerSecond, have a name.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/process/event_loop.h"

namespace network::gateway {

class ClientPrograms {
  public:
    using Clock = base::EventLoop::Clock;
    static constexpr double kBurst = 16, kPerSecond = 2;
    static constexpr size_t kMostTrusting = 1024;

    // `ask` sends the question to the supervisor; take() gets the answer.
    void ask_by(std::function<void(uint64_t ticket, uint16_t port)> ask) { ask_ = std::move(ask); }

    // Calls back once, now or later, with the program that has this port in the jail; empty: not known. Does
    // not call back if `alive` has expired by then.
    using OnProgram = std::function<void(const std::string& program)>;
    void find(uint16_t port, std::weak_ptr<char> alive, OnProgram on_program);
    void take(uint64_t ticket, const std::string& program);

    // A program that sent a request to this host trusts the session. One that closes a later connection
    // without a request only did not need it.
    void note_trust(const std::string& host, const std::string& program);
    bool has_trusted(const std::string& host, const std::string& program) const;

  private:
    struct Waiter {
        std::weak_ptr<char> alive;
        OnProgram on_program;
    };
    bool take_room();

    std::function<void(uint64_t, uint16_t)> ask_;
    std::map<uint64_t, Waiter> waiters_;
    uint64_t last_ticket_ = 0;
    double room_ = kBurst;
    Clock::time_point filled_ = Clock::now();
    std::set<std::string> trusting_;
};

}  // namespace network::gateway
