// SPDX-License-Identifier: MIT
// The event loop of every process that waits for several descriptors: one thread, in which no part may block.
// It waits in one of two ways:
//
//   add()             poll(2), for a few descriptors, as in the supervisor, the stage, the keeper and the
//                     chaperon. The loop needs no descriptor and one system call a turn. It serves ready
//                     sources in the order in which they were added.
//   open(), watch()   epoll(7), for thousands of descriptors, as in the gateway and the tracer. The loop
//                     serves them in the order in which the kernel reports them.
//
// A wait for one descriptor is await_events() (descriptors.h).
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

struct signalfd_siginfo;

namespace base {

class Watcher {
  public:
    virtual ~Watcher() = default;
    // EPOLL bits. `which` is the value given to watch(), for a watcher of several descriptors.
    virtual void on_ready(uint32_t events, int which) = 0;
};

// A part of the process that waits for one descriptor, which it opens and closes by itself.
struct Source {
    std::function<int()> descriptor;     // called before each wait; negative: nothing to wait for now
    std::function<void()> serve;         // it is readable, or the other end is closed
    std::function<int()> patience = {};  // milliseconds until `descriptor` may change by itself; -1: never
};

// The same for a descriptor that is also written to.
struct Stream {
    std::function<struct pollfd()> awaited;   // called before each wait: the descriptor and its events
    std::function<void(short events)> serve;  // as poll(2) reports them
};

// Reads all signals that a non-blocking signalfd has.
Source signal_source(int descriptor, std::function<void(const struct signalfd_siginfo&)> act);

class EventLoop {
  public:
    using Clock = std::chrono::steady_clock;
    using TimerId = uint64_t;  // 0: no timer

    EventLoop() = default;
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // For a loop that is not opened. The loop waits for the source from the next turn on.
    using SourceId = uint64_t;
    SourceId add(Source source);
    SourceId add(Stream stream);
    void remove(SourceId source);
    // The same for work that depends on the clock. `act` runs after each wait, before ready sources are
    // served. `patience`: milliseconds until it is due without an event; -1: never.
    void add_check(std::function<int()> patience, std::function<void()> act) {
        checks_.push_back({std::move(patience), std::move(act)});
    }

    // Makes the epoll instance. Another loop may wait for its descriptor (-1: not open): it is readable while
    // this loop has events.
    Status open();
    void close() { epoll_.reset(); }
    int descriptor() const { return epoll_.get(); }

    // The slot ties a descriptor to a watcher until forget(). Call forget() before the descriptor is closed.
    // The caller adds EPOLLET. Null: the kernel refused it.
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
    void stop() { is_stopped_ = true; }  // no further source is served
    // One turn. Waits at most this long; -1: without a limit.
    void turn(std::chrono::milliseconds longest = std::chrono::milliseconds(-1));

  private:
    struct Watched {
        Watcher* watcher;
        int which;
    };
    struct Entry {
        SourceId id = 0;
        Source source = {};
        Stream stream = {};  // in place of `source`
        bool is_removed = false;
    };
    struct Check {
        std::function<int()> patience;
        std::function<void()> act;
    };
    void serve_sources(int timeout);
    void serve_watchers(int timeout);
    void run_timers();
    void run_deferred();
    int wait_time(std::chrono::milliseconds longest) const;

    std::deque<Entry> sources_;  // add() does not move the entry that is served
    SourceId last_source_ = 0;
    bool has_removed_ = false;
    std::vector<Check> checks_;
    std::vector<struct pollfd> polled_;  // of sources_, in the same order
    bool has_rested_ = false;
    Fd epoll_;
    std::map<std::pair<Clock::time_point, TimerId>, std::function<void()>> timers_;
    std::map<TimerId, Clock::time_point> due_;
    TimerId last_timer_ = 0;
    std::vector<std::function<void()>> deferred_;
    std::vector<std::shared_ptr<void>> buried_;
    std::vector<std::unique_ptr<Watched>> retired_;  // events already fetched may still point to them
    bool is_stopped_ = false;
};

}  // namespace base
