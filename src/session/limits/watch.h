// SPDX-License-Identifier: MIT
// Limits that the kernel does not enforce: how long a jail may live, how long it may be idle, and, without a
// cgroup, how much memory it may use. wait() returns when to check again; without such a limit, never.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace session {

// What the processes of a jail use, added up from a /proc. Every process of the jail descends from its first
// process, so no other process on the machine is read.

class Meter {
  public:
    // `first` is the jail's first process, as this /proc numbers it. `memory_file_systems`: paths in the jail
    // whose files are in memory.
    Meter(pid_t first, std::vector<std::string> memory_file_systems, std::string proc = "/proc")
        : proc_(std::move(proc)), first_(first), memory_file_systems_(std::move(memory_file_systems)) {}

    // For a jail with a pid namespace: `proc` is a descriptor of the jail's own /proc. It shows every process
    // of the jail, where the host's /proc may hide the stage (hidepid).
    static Meter of_namespace(int proc, std::vector<std::string> memory_file_systems) {
        return {1, std::move(memory_file_systems), "/proc/self/fd/" + std::to_string(proc)};
    }

    // Whether the kernel lists children at all.
    static bool is_possible();
    // Whether this /proc shows the jail's first process and its children.
    bool can_see() const;

    // Bytes, including files in memory. Exact only if the quick sum, which counts shared pages once for each
    // process, is above `limit`.
    uint64_t memory(uint64_t limit) const;
    // The directories in /proc of the processes.
    std::vector<std::string> places() const;
    // The number of processes.
    size_t processes() const;
    // In clock ticks, including those of ended children.
    uint64_t processor_ticks() const;

  private:
    std::string proc_;
    pid_t first_;
    std::vector<std::string> memory_file_systems_;
};

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
