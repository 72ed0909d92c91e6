// SPDX-License-Identifier: MIT
#include "inner/signals.h"

#include <gtest/gtest.h>

namespace {

using inner::SignalState;

TEST(Signals, AppliedStateIsTheCurrentOne) {
    SignalState before = inner::current_signals();
    constexpr int kIgnored[] = {SIGHUP, SIGUSR2};
    constexpr int kBlocked[] = {SIGUSR1};
    SignalState wanted{.ignored = inner::signal_bits(kIgnored), .blocked = inner::signal_bits(kBlocked)};
    inner::apply_signals(wanted);
    SignalState reached = inner::current_signals();
    inner::apply_signals(before);
    EXPECT_EQ(reached, wanted);
    EXPECT_EQ(inner::current_signals(), before);
}

TEST(Signals, BitsStandForSignalsFromOne) {
    constexpr int kFirst[] = {1};
    EXPECT_EQ(inner::signal_bits(kFirst), 1u);
    sigset_t set = inner::signal_set(1u << (SIGTERM - 1));
    EXPECT_EQ(sigismember(&set, SIGTERM), 1);
    EXPECT_EQ(sigismember(&set, SIGHUP), 0);
}

}  // namespace
