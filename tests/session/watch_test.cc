// SPDX-License-Identifier: MIT
#include "session/limits/watch.h"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using session::Watch;
using Action = Watch::Action;

class WatchTest : public testing::Test {
  protected:
    Watch::Source source() {
        return {.memory = [this] { return memory_; }, .processor_ticks = [this] { return ticks_; }};
    }
    Watch started(const Watch::Bounds& bounds) {
        Watch watch(bounds);
        watch.start(begin_, source());
        return watch;
    }
    // Looks each time that the watch requests it, up to this moment. Returns the first action that is not
    // go_on.
    Action attend(Watch& watch, Watch::Clock::duration until) {
        while (now_ <= begin_ + until) {
            Action action = watch.look(now_);
            if (action != Action::go_on) return action;
            int pause = watch.wait(now_);
            if (pause < 0) break;
            now_ += std::chrono::milliseconds(std::max(pause, 1));
            ticks_ += ticks_per_look_;
        }
        return Action::go_on;
    }

    Watch::Clock::time_point begin_ = Watch::Clock::time_point() + 1h;
    Watch::Clock::time_point now_ = begin_;
    uint64_t memory_ = 0, ticks_ = 1000, ticks_per_look_ = 0;
};

TEST_F(WatchTest, WithoutALimitNothingIsEverLookedAt) {
    Watch watch;
    watch.start(begin_, {});
    EXPECT_EQ(watch.wait(begin_ + 100h), -1);
}

TEST_F(WatchTest, WhoseTimeIsOverIsAskedFirstAndEndedThen) {
    Watch watch = started({.wall_time = 10s});
    EXPECT_EQ(watch.wait(begin_), 10'000);
    EXPECT_EQ(watch.look(begin_ + 9999ms), Action::go_on);
    EXPECT_EQ(watch.look(begin_ + 10s), Action::ask_to_end);
    EXPECT_EQ(watch.reached(), "limits.wall_time");
    EXPECT_EQ(watch.wait(begin_ + 10s), 2000);
    EXPECT_EQ(watch.look(begin_ + 11s), Action::go_on);
    EXPECT_EQ(watch.look(begin_ + 12s), Action::end_now);
    EXPECT_EQ(watch.wait(begin_ + 12s), -1);
}

TEST_F(WatchTest, TooMuchMemoryEndsAtOnce) {
    Watch watch = started({.memory = 1000});
    memory_ = 1000;
    EXPECT_EQ(watch.look(begin_), Action::go_on);
    memory_ = 1001;
    now_ += std::chrono::milliseconds(watch.wait(begin_));
    EXPECT_EQ(watch.look(now_), Action::end_now);
    EXPECT_EQ(watch.reached(), "limits.memory");
}

TEST_F(WatchTest, MemoryIsLookedAtTheMoreOftenTheFullerItIs) {
    Watch watch = started({.memory = 10ull << 30});
    watch.look(begin_);
    EXPECT_EQ(watch.wait(begin_), 250);
    memory_ = (10ull << 30) - 1;
    watch.look(begin_ + 250ms);
    EXPECT_EQ(watch.wait(begin_ + 250ms), 10);
}

TEST_F(WatchTest, IdleIsWhoUsesNoProcessor) {
    Watch idle = started({.idle_time = 5s});
    EXPECT_EQ(attend(idle, 1min), Action::ask_to_end);
    EXPECT_EQ(idle.reached(), "limits.idle_time");
    EXPECT_EQ(now_, begin_ + 5s);
}

TEST_F(WatchTest, ATickASecondIsStillIdleAndTwoAreNot) {
    Watch blinking = started({.idle_time = 5s});
    ticks_per_look_ = 1;
    EXPECT_EQ(attend(blinking, 1min), Action::ask_to_end);
    now_ = begin_;
    Watch busy = started({.idle_time = 5s});
    ticks_per_look_ = 2;
    EXPECT_EQ(attend(busy, 1min), Action::go_on);
}

TEST_F(WatchTest, WorkInBetweenStartsTheIdleTimeAgain) {
    Watch watch = started({.idle_time = 5s});
    EXPECT_EQ(attend(watch, 3s), Action::go_on);
    ticks_ += 100;
    EXPECT_EQ(attend(watch, 1min), Action::ask_to_end);
    EXPECT_EQ(now_, begin_ + 9s);
}

}  // namespace
