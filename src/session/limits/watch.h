// SPDX-License-Identifier: MIT
// Limits that the kernel does not enforce: how long a jail may live, how long it may be idle, and, without a
// cgroup, how much memory it may use. wait() returns when to check again; without such a limit, never.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace session {

class Watch {
  public:
    using Clock = std::chrono::steady_clock;

    // 0 means no limit.
    struct Bounds {
        uint64_t memory = 0;  // bytes
        std::chrono::seconds wall_time{};
        std::chrono::seconds idle_time{};

        bool needs_meter() const { return memory > 0 || idle_time.count() > 0; }
    };
    // Reads the jail's use. Not called for a limit that is not set.
    struct Source {
        std::function<uint64_t()> memory;
        std::function<uint64_t()> processor_ticks;
    };
    enum class Action { go_on, ask_to_end, end_now };

    // The value of reached() if the user ended the jail.
    static constexpr std::string_view kStop = "stop";

    Watch() = default;
    explicit Watch(const Bounds& bounds) : bounds_(bounds) {}

    const Bounds& bounds() const { return bounds_; }

    void start(Clock::time_point now, Source source);
    // Milliseconds until the next check; -1: never.
    int wait(Clock::time_point now) const;
    // A jail whose time is over gets SIGTERM first, and is killed a moment later.
    Action look(Clock::time_point now);
    // The user ends the jail: with SIGTERM and a kill a moment later, or at once.
    void stop(Clock::time_point now, bool is_urgent);
    // The setting that was reached, or kStop; empty before.
    std::string_view reached() const { return reached_; }

  private:
    void look_at_idleness(Clock::time_point now);
    void look_at_memory(Clock::time_point now);
    Action reach(std::string_view setting, Clock::time_point now);

    static constexpr Clock::time_point kNever = Clock::time_point::max();

    Bounds bounds_;
    Source source_;
    std::string_view reached_;
    bool is_asked_ = false;
    bool is_stopping_ = false;                  // and did not get SIGTERM yet
    Clock::time_point end_ = kNever;            // of the wall time, then of the grace
    Clock::time_point next_memory_ = kNever;    // check
    Clock::time_point next_idleness_ = kNever;  // check
    Clock::time_point idle_since_ = kNever;
    uint64_t last_ticks_ = 0;
    uint64_t last_memory_ = 0;
};

}  // namespace session
