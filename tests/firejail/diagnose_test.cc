// SPDX-License-Identifier: MIT
#include "backends/firejail/launch.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_directory.h"

namespace {

using backends::firejail::diagnose;

TEST(FirejailDiagnose, WhoIsNotAllowedIsToldWhereThatIsWritten) {
    base::Error error = diagnose(
        "Error: the user is not allowed to use Firejail.\nPlease add the user in "
        "/etc/firejail/firejail.users "
        "file,\n");
    EXPECT_NE(error.what.find("not for everybody"), std::string::npos);
    EXPECT_NE(error.advice.find("firejail.users"), std::string::npos);
    EXPECT_EQ(error.exit_code, base::ExitCode::jail_failed);
}

TEST(FirejailDiagnose, AnotherSandboxIsNamed) {
    EXPECT_NE(diagnose("Warning: an existing sandbox was detected. x will run without any additional "
                       "sandboxing features\n")
                  .what.find("another sandbox"),
              std::string::npos);
}

TEST(FirejailDiagnose, TheErrorIsToldAndNotTheWarningsAroundIt) {
    base::Error error = diagnose("Warning: odd\nError: it broke \x1b[31mhere\nand more\n");
    EXPECT_NE(error.what.find("it broke"), std::string::npos);
    EXPECT_EQ(error.what.find('\x1b'), std::string::npos);
    EXPECT_EQ(error.what.find("odd"), std::string::npos);
}

TEST(FirejailDiagnose, SilenceIsSaid) {
    EXPECT_NE(diagnose("").what.find("without a word"), std::string::npos);
}

TEST(FirejailOptions, AProgramWithoutThemIsTooOld) {
    testing_support::TemporaryDirectory directory;
    std::string old = directory / "old", young = directory / "young";
    ASSERT_TRUE(base::write_file_atomically(old, "--ipc-namespace --tab --noinput"));
    ASSERT_TRUE(base::write_file_atomically(young, "--ipc-namespace --tab --noinput --keep-fd="));
    EXPECT_FALSE(backends::firejail::knows_options(old));
    EXPECT_TRUE(backends::firejail::knows_options(young));
    EXPECT_FALSE(backends::firejail::knows_options(directory / "absent"));
}

}  // namespace
