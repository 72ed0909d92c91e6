// SPDX-License-Identifier: MIT
// One thread, one epoll. Every part of the gateway is a watcher of this loop, and none of them blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace network::gateway {

class Watcher {
  public:
    virtual ~Watcher() = default;
    // EPOLL bits. `which` is the value given to watch(), for a watcher of several descriptors.
    virtual void on_ready(uint32_t events, int which) = 0;
};

class Loop {
  public:
    using Clock = std::chrono::steady_clock;
    using TimerId = uint64_t;  // 0: no timer

    Loop() = default;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    base::Status open();

    // The slot ties a descriptor to a watcher until forget(). Call forget() before the descriptor is closed.
    // The caller adds EPOLLET.
    using Slot = void*;
    Slot watch(int fd, uint32_t events, Watcher& watcher, int which = 0);
    void change(Slot slot, int fd, uint32_t events);
    void forget(Slot slot, int fd);
    // The same for a descriptor that is closed right after this call and that no other process shares. The
    // kernel then removes it from epoll by itself.
    void forget_closing(Slot slot);
    // Replaces the watcher without a system call. Edges that the former watcher received are not repeated.
    void hand_over(Slot slot, Watcher& watcher, int which);

    TimerId after(std::chrono::milliseconds delay, std::function<void()> act);
    void cancel(TimerId& timer);  // sets it to 0

    // Runs after the current events: the place to destroy a watcher from within its own on_ready.
    void later(std::function<void()> act) { deferred_.push_back(std::move(act)); }
    // Destroyed at the end of the turn, for objects that have finished but may still be on the stack.
    void bury(std::shared_ptr<void> thing) { buried_.push_back(std::move(thing)); }

    void run();
    void stop() { is_stopped_ = true; }
    // One turn, for tests. Waits at most this long.
    void turn(std::chrono::milliseconds longest);

  private:
    struct Watched {
        Watcher* watcher;
        int which;
    };
    void run_timers();
    void run_deferred();
    int wait_time(std::chrono::milliseconds longest) const;

    base::Fd epoll_;
    std::map<std::pair<Clock::time_point, TimerId>, std::function<void()>> timers_;
    std::map<TimerId, Clock::time_point> due_;
    TimerId last_timer_ = 0;
    std::vector<std::function<void()>> deferred_;
    std::vector<std::shared_ptr<void>> buried_;
    std::vector<std::unique_ptr<Watched>> retired_;  // events already fetched may still point to them
    bool is_stopped_ = false;
};

}  // namespace network::gateway
