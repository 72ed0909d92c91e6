// SPDX-License-Identifier: MIT
// Callers whose connect() takes longer than the doorman may: a distant host, a server whose queue is full.
// Their answers are sent from here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>

#include "base/file.h"
#include "doorman/caller.h"
#include "doorman/objects.h"

namespace doorman {

class WaitingRoom {
  public:
    using Clock = std::chrono::steady_clock;

    struct Guest {
        uint64_t id = 0;
        base::Fd socket;
        Object server;  // a Unix socket's; none: a connection of the Internet that is under way
        std::chrono::microseconds limit{0};  // the caller's own; zero is for ever
        Clock::time_point deadline;
    };

    // `gate` is an epoll descriptor: it becomes ready when review() has something to do.
    explicit WaitingRoom(int gate);
    void admit(Guest guest);
    // Answers those whose wait is over, by send(id, answer).
    void review(const std::function<bool(uint64_t)>& is_waiting,
                const std::function<void(uint64_t, Answer)>& send);

  private:
    void set_alarm(bool is_on);

    int gate_;
    base::Fd alarm_;
    std::list<Guest> guests_;
};

}  // namespace doorman
