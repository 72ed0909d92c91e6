// SPDX-License-Identifier: MIT
#include "monitor/terminal.h"

#include <gtest/gtest.h>

namespace monitor {
namespace {

using Keys = std::vector<Key>;

TEST(Keys, AreReadAsTerminalsSendThem) {
    EXPECT_EQ(keys_in("jk"), (Keys{Key::down, Key::up}));
    EXPECT_EQ(keys_in("\x1b[A\x1b[B\x1bOA\x1bOB"), (Keys{Key::up, Key::down, Key::up, Key::down}));
    EXPECT_EQ(keys_in("q"), Keys{Key::quit});
    EXPECT_EQ(keys_in("\x03"), Keys{Key::quit});
    EXPECT_EQ(keys_in(""), Keys{});
}

// The sequence of a function key contains letters that are keys of the monitor.
TEST(Keys, OtherSequencesArePassedOver) {
    EXPECT_EQ(keys_in("\x1b[15~"), Keys{});
    EXPECT_EQ(keys_in("\x1b[1;5D\x1bOPx"), Keys{});
    EXPECT_EQ(keys_in("\x1b[<0;10;10M"), Keys{});
    EXPECT_EQ(keys_in("\x1b"), Keys{});
    EXPECT_EQ(keys_in("\x1b["), Keys{});
    EXPECT_EQ(keys_in("\x1bs"), Keys{});
    EXPECT_EQ(keys_in("zq"), Keys{Key::quit});
}

}  // namespace
}  // namespace monitor
