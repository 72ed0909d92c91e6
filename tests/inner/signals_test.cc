// SPDX-License-Identifier: MIT
#include "inner/command/process_state.h"

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

TEST(Signals, AHandlerIsTakenAway) {
    SignalState before = inner::current_signals();
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    inner::apply_signals(before);
    ASSERT_EQ(sigaction(SIGUSR1, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(Signals, OfAKnownStateOnlyWhatDiffersIsTouched) {
    SignalState before = inner::current_signals();
    constexpr int kFirst[] = {SIGHUP}, kSecond[] = {SIGUSR2};
    inner::apply_signals({.ignored = inner::signal_bits(kFirst), .blocked = 0});
    // `present` lists SIGUSR2 as ignored already, so apply_signals() does not change it.
    SignalState present{.ignored = inner::signal_bits(kFirst) | inner::signal_bits(kSecond), .blocked = 0};
    inner::apply_signals({.ignored = inner::signal_bits(kSecond), .blocked = 0}, present);
    SignalState reached = inner::current_signals();
    inner::apply_signals(before);
    EXPECT_EQ(reached.ignored & (inner::signal_bits(kFirst) | inner::signal_bits(kSecond)), 0u);
}

TEST(Signals, TheMaskAloneCanBeSet) {
    SignalState before = inner::current_signals();
    constexpr int kBlocked[] = {SIGUSR1};
    inner::block_only(inner::signal_bits(kBlocked));
    SignalState reached = inner::current_signals();
    inner::apply_signals(before);
    EXPECT_EQ(reached, (SignalState{.ignored = before.ignored, .blocked = inner::signal_bits(kBlocked)}));
}

TEST(Signals, BitsStandForSignalsFromOne) {
    constexpr int kFirst[] = {1};
    EXPECT_EQ(inner::signal_bits(kFirst), 1u);
    sigset_t set = inner::signal_set(1u << (SIGTERM - 1));
    EXPECT_EQ(sigismember(&set, SIGTERM), 1);
    EXPECT_EQ(sigismember(&set, SIGHUP), 0);
}

}  // namespace
