// SPDX-License-Identifier: MIT
#include "session/guard/orphans.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using session::is_left_builder;
using namespace std::string_view_literals;

constexpr std::string_view kOurs =
    "bwrap\0--args\0"
    "34\0--\0/run/agent-sandbox/agent-sandbox\0inner-stage\0"
    "17\0"sv;
constexpr std::string_view kInner = "Name:\tbwrap\nPPid:\t1\nNSpid:\t4711\t1\nUid:\t1000\t1000\t1000\t1000\n";
constexpr std::string_view kOuter = "Name:\tbwrap\nPPid:\t80\nNSpid:\t4711\nUid:\t1000\t1000\t1000\t1000\n";

TEST(StaleBubblewrap, WaitInANamespaceBelowWithoutABubblewrapAbove) {
    EXPECT_TRUE(is_left_builder(kOurs, kInner, 1, "init"));
    // Its jail is still being built.
    EXPECT_FALSE(is_left_builder(kOurs, kInner, 1, "bwrap"));
    // The outer process, which builds the jail, whatever the name of its supervisor.
    EXPECT_FALSE(is_left_builder(kOurs, kOuter, 1, "slurm_script"));
    // A jail in a jail.
    EXPECT_FALSE(is_left_builder(kOurs, kInner, 2, "init"));
    EXPECT_FALSE(is_left_builder(kOurs, kInner, 0, "init"));
}

TEST(StaleBubblewrap, AreNobodyElses) {
    EXPECT_FALSE(
        is_left_builder("bwrap\0--args\0"
                        "34\0--\0/usr/bin/firefox\0"sv,
                        kInner, 1, "init"));
    EXPECT_FALSE(
        is_left_builder("bwrap\0--args\0"
                        "34\0--\0/usr/bin/firefox\0inner-stage\0"
                        "17\0"sv,
                        kInner, 1, "init"));
    EXPECT_FALSE(
        is_left_builder("/run/agent-sandbox/agent-sandbox\0inner-stage\0"
                        "17\0"sv,
                        kInner, 1, "init"));
    // A process whose parent can't be seen is left alone.
    EXPECT_FALSE(is_left_builder(kOurs, kInner, 1, ""));
    EXPECT_FALSE(is_left_builder("", "", 1, "init"));
}

}  // namespace
