// SPDX-License-Identifier: MIT
// Test cases that fail on purpose, which tests/runner/runner.bats runs through scripts/test; ctest runs them
// only by name.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

namespace {

// Whether this is the first call with this name in a run of scripts/test.
bool is_first(const std::string& name) {
    const char* seed = std::getenv("SBX_SEED");
    return ::mkdir(("/var/tmp/agent-sandbox-luck." + std::string(seed ? seed : "none") + "." + name).c_str(),
                   0777) == 0;
}

TEST(Luck, FailsOnce) {
    EXPECT_FALSE(is_first("test"));
}

TEST(Luck, Passes) {
    EXPECT_EQ(1 + 1, 2);
}

}  // namespace
