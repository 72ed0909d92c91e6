// SPDX-License-Identifier: MIT
#include "session/limits/watch.h"

#include <algorithm>
#include <utility>

namespace session {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 2s;
constexpr auto kStopGrace = 5s;
constexpr auto kIdleLook = 1s;
// A second with at most this many ticks is idle: a program that waits for input still blinks and polls.
constexpr uint64_t kIdleTicks = 1;

// Memory fills by some gigabytes a second at most: the more is left, the later the next check.
constexpr uint64_t kFilledPerMillisecond = 4u << 20;
constexpr int64_t kSoonest = 10, kLatest = 250;  // milliseconds

}  // namespace

void Watch::start(Clock::time_point now, Source source) {
    source_ = std::move(source);
    if (bounds_.wall_time.count() > 0) end_ = now + bounds_.wall_time;
    if (bounds_.memory > 0) next_memory_ = now;
    if (bounds_.idle_time.count() > 0) {
        idle_since_ = now;
        next_idleness_ = now + kIdleLook;
        last_ticks_ = source_.processor_ticks();
    }
}

int Watch::wait(Clock::time_point now) const {
    Clock::time_point next = std::min({end_, next_memory_, next_idleness_});
    if (next == kNever) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    // Wait at most a day, which fits poll's int; an early check is harmless.
    return static_cast<int>(std::clamp<int64_t>(left, 0, 86'400'000));
}

void Watch::stop(Clock::time_point now, bool is_urgent) {
    reached_ = kStop;
    is_stopping_ = !is_urgent;
    is_asked_ = true;
    end_ = now + (is_urgent ? Clock::duration::zero() : Clock::duration(kStopGrace));
    next_memory_ = next_idleness_ = kNever;
}

Watch::Action Watch::look(Clock::time_point now) {
    if (std::exchange(is_stopping_, false)) return Action::ask_to_end;
    if (is_asked_) {
        if (now < end_) return Action::go_on;
        end_ = kNever;
        return Action::end_now;
    }
    if (now >= end_) return reach("limits.wall_time", now);
    if (now >= next_memory_) look_at_memory(now);
    if (bounds_.memory > 0 && last_memory_ > bounds_.memory) return reach("limits.memory", now);
    if (now >= next_idleness_) look_at_idleness(now);
    if (idle_since_ != kNever && now - idle_since_ >= bounds_.idle_time)
        return reach("limits.idle_time", now);
    return Action::go_on;
}

// A jail above its memory limit gets no time to exit.
Watch::Action Watch::reach(std::string_view setting, Clock::time_point now) {
    reached_ = setting;
    is_asked_ = true;
    bool is_urgent = setting == "limits.memory";
    end_ = is_urgent ? kNever : now + kGrace;
    next_memory_ = next_idleness_ = kNever;
    return is_urgent ? Action::end_now : Action::ask_to_end;
}

void Watch::look_at_memory(Clock::time_point now) {
    last_memory_ = source_.memory();
    uint64_t left = bounds_.memory > last_memory_ ? bounds_.memory - last_memory_ : 0;
    auto pause = std::clamp(static_cast<int64_t>(left / kFilledPerMillisecond), kSoonest, kLatest);
    next_memory_ = now + std::chrono::milliseconds(pause);
}

void Watch::look_at_idleness(Clock::time_point now) {
    uint64_t ticks = source_.processor_ticks();
    // Less than before: a process ended and was not waited for, so the jail was active.
    bool is_idle = ticks >= last_ticks_ && ticks - last_ticks_ <= kIdleTicks;
    if (!is_idle) idle_since_ = now;
    last_ticks_ = ticks;
    next_idleness_ = now + kIdleLook;
}

}  // namespace session
