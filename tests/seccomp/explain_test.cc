// SPDX-License-Identifier: MIT
#include "seccomp/explain.h"

#include <gtest/gtest.h>

namespace {

using seccomp::explain;
using seccomp::Switches;

bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Explain, ARefusedCallHasItsErrorAndReason) {
    auto verdict = explain("io_uring_setup", {});
    EXPECT_FALSE(verdict.is_allowed);
    EXPECT_EQ(verdict.verdict, "refused with EPERM");
    EXPECT_EQ(verdict.why, "runs system calls that no filter sees");
    EXPECT_EQ(verdict.setting, "");
}

TEST(Explain, ARowThatASettingLiftsNamesIt) {
    EXPECT_EQ(explain("perf_event_open", {}).setting, "isolation.allow_perf");
    EXPECT_FALSE(explain("perf_event_open", {}).is_allowed);
    auto lifted = explain("perf_event_open", {.allow_perf = true});
    EXPECT_TRUE(lifted.is_allowed);
    EXPECT_TRUE(says(lifted.why, "isolation.allow_perf")) << lifted.why;
}

TEST(Explain, AConditionIsAnExceptionAndSaidOnce) {
    auto verdict = explain("unshare", {});
    EXPECT_TRUE(verdict.is_allowed);
    EXPECT_EQ(verdict.verdict, "allowed with exceptions");
    EXPECT_TRUE(says(verdict.why, "refused with EPERM for a flag for a new namespace")) << verdict.why;
    EXPECT_EQ(verdict.why.find("refused"), verdict.why.rfind("refused")) << verdict.why;
    EXPECT_TRUE(says(explain("socket", {}).why, "EAFNOSUPPORT"));
    EXPECT_TRUE(says(explain("prlimit64", {}).why, "answered as done"));
}

TEST(Explain, AnyOtherCallIsAllowed) {
    auto verdict = explain("read", {});
    EXPECT_TRUE(verdict.is_allowed);
    EXPECT_EQ(verdict.why, "no row of the filter refuses it");
}

TEST(Explain, AMistypedNameGetsTheNearest) {
    auto verdict = explain("ptrcae", {});
    EXPECT_TRUE(says(verdict.why, "did you mean ptrace?")) << verdict.why;
    EXPECT_FALSE(verdict.is_known);
    EXPECT_TRUE(explain("read", {}).is_known && explain("ptrace", {}).is_known);
    EXPECT_FALSE(says(explain("zzzzzzzzzzzzzzzzzz", {}).why, "did you mean"));
}

}  // namespace
