// SPDX-License-Identifier: MIT
#include "seccomp/filter.h"

#include <gtest/gtest.h>

namespace {

using seccomp::explain;
using seccomp::Switches;

bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Explain, ARefusedCallHasItsErrorAndReason) {
    auto result = explain("io_uring_setup", {});
    EXPECT_FALSE(result.is_allowed);
    EXPECT_EQ(result.summary, "refused with EPERM");
    EXPECT_EQ(result.why, "runs system calls that no filter sees");
    EXPECT_EQ(result.setting, "");
}

TEST(Explain, ARowThatASettingLiftsNamesIt) {
    EXPECT_EQ(explain("perf_event_open", {}).setting, "isolation.allow_perf");
    EXPECT_FALSE(explain("perf_event_open", {}).is_allowed);
    auto lifted = explain("perf_event_open", {.allow_perf = true});
    EXPECT_TRUE(lifted.is_allowed);
    EXPECT_TRUE(says(lifted.why, "isolation.allow_perf")) << lifted.why;
}

TEST(Explain, AConditionIsAnExceptionAndSaidOnce) {
    auto result = explain("unshare", {});
    EXPECT_TRUE(result.is_allowed);
    EXPECT_EQ(result.summary, "allowed with exceptions");
    EXPECT_TRUE(says(result.why, "refused with EPERM for a flag for a new namespace")) << result.why;
    EXPECT_EQ(result.why.find("refused"), result.why.rfind("refused")) << result.why;
    EXPECT_TRUE(says(explain("socket", {}).why, "EAFNOSUPPORT"));
    EXPECT_TRUE(says(explain("prlimit64", {}).why, "answered as done"));
}

TEST(Explain, AnyOtherCallIsAllowed) {
    auto result = explain("read", {});
    EXPECT_TRUE(result.is_allowed);
    EXPECT_EQ(result.why, "no row of the filter refuses it");
}

TEST(Explain, AMistypedNameGetsTheNearest) {
    auto result = explain("ptrcae", {});
    EXPECT_TRUE(says(result.why, "did you mean ptrace?")) << result.why;
    EXPECT_FALSE(result.is_known);
    EXPECT_TRUE(explain("read", {}).is_known && explain("ptrace", {}).is_known);
    EXPECT_FALSE(says(explain("zzzzzzzzzzzzzzzzzz", {}).why, "did you mean"));
}

}  // namespace
