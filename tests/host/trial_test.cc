// SPDX-License-Identifier: MIT
#include "host/trial.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_directory.h"

namespace host {
namespace {

using base::Path;

TEST(BwrapVersion, IsReadFromWhatTheProgramPrints) {
    EXPECT_EQ(parse_bwrap_version("bubblewrap 0.8.0\n")->text(), "0.8.0");
    EXPECT_EQ(parse_bwrap_version("bubblewrap 0.11")->text(), "0.11.0");
    EXPECT_EQ(parse_bwrap_version("bubblewrap 1.2.3-rc1")->text(), "1.2.3");
}

TEST(BwrapVersion, AnythingElseIsAnErrorThatIsSafeToShow) {
    for (const char* output :
         {"", "bwrap 0.8.0", "bubblewrap", "bubblewrap x.y", "bubblewrap 1", "bubblewrap -1.0"}) {
        EXPECT_FALSE(parse_bwrap_version(output)) << output;
    }
    EXPECT_EQ(parse_bwrap_version("\x1b[2J").error().what, "'\\x1b[2J' is not a version of bubblewrap");
}

TEST(BwrapVersion, IsComparedByNumbers) {
    EXPECT_LT(*parse_bwrap_version("bubblewrap 0.3.9"), kOldestBwrap);
    EXPECT_GE(*parse_bwrap_version("bubblewrap 0.4.0"), kOldestBwrap);
    EXPECT_GT(*parse_bwrap_version("bubblewrap 0.11.0"), *parse_bwrap_version("bubblewrap 0.9.5"));
}

class FakeBwrap : public testing::Test {
  protected:
    TrustedProgram fake(std::string_view script) const {
        std::string path = directory_.write("bwrap", script);
        ::chmod(path.c_str(), 0755);
        return {.state = ProgramState::usable, .path = Path::known(path)};
    }
    testing_support::TemporaryDirectory directory_;
};

TEST_F(FakeBwrap, IsRunWithNothingButTheQuestion) {
    ::setenv("TRIAL_SECRET", "x", 1);
    base::Result<BwrapVersion> version = probe_bwrap_version(
        fake("#!/bin/sh\n[ \"$*\" = --version ] && [ -z \"$TRIAL_SECRET\" ] && echo bubblewrap 0.5.1\n"));
    ::unsetenv("TRIAL_SECRET");
    ASSERT_TRUE(version) << version.error().line();
    EXPECT_EQ(version->text(), "0.5.1");
}

TEST_F(FakeBwrap, FailuresAreErrors) {
    EXPECT_FALSE(probe_bwrap_version(fake("#!/bin/sh\necho bubblewrap 0.8.0; exit 3\n")));
    EXPECT_FALSE(probe_bwrap_version(fake("#!/no/such/interpreter\n")));
    TrustedProgram untrusted = fake("#!/bin/sh\necho bubblewrap 0.8.0\n");
    untrusted.state = ProgramState::untrusted;
    untrusted.problem = "not trusted";
    EXPECT_EQ(probe_bwrap_version(untrusted).error().what, "not trusted");
}

TEST(TryUserNamespace, AnswersAndLeavesThisProcessWhereItWas) {
    char before[64] = {}, after[64] = {};
    ASSERT_GT(::readlink("/proc/self/ns/user", before, sizeof before - 1), 0);
    std::optional<std::string> failure = try_user_namespace();
    ASSERT_GT(::readlink("/proc/self/ns/user", after, sizeof after - 1), 0);
    EXPECT_STREQ(before, after);
    EXPECT_TRUE(!failure || !failure->empty());
}

}  // namespace
}  // namespace host
