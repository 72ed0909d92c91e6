// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/launch.h"

#include <gtest/gtest.h>

namespace {

using backends::bubblewrap::diagnose;

TEST(Diagnose, ARefusedNamespaceLeadsToTheDoctor) {
    for (std::string_view text :
         {"bwrap: No permissions to create new namespace, likely because the kernel does not allow it\n",
          "bwrap: setting up uid map: Permission denied\n",
          "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n"}) {
        base::Error error = diagnose(text);
        EXPECT_NE(error.advice.find("doctor"), std::string::npos) << text;
        EXPECT_EQ(error.exit_code, base::ExitCode::jail_failed);
    }
}

TEST(Diagnose, AVanishedPathIsNamed) {
    base::Error error = diagnose("bwrap: Can't find source path /data/x: No such file or directory\n");
    EXPECT_NE(error.what.find("/data/x"), std::string::npos);
    EXPECT_NE(error.advice.find("plan"), std::string::npos);
}

// useradd replaces /etc/passwd between bubblewrap's look-up of the name and its mount.
TEST(Diagnose, APathThatIsReplacedMeanwhileMayBeThereAgain) {
    for (std::string_view text : {"bwrap: Can't bind mount /bindfileoiukGi on /newroot/run/host/etc/passwd: "
                                  "Unable to mount source on "
                                  "destination: No such file or directory\n",
                                  "bwrap: Can't find source path /data/x: No such file or directory\n"})
        EXPECT_TRUE(diagnose(text).may_pass) << text;
    for (std::string_view text : {"bwrap: Can't bind mount /data on /newroot/data: Unable to mount source on "
                                  "destination: Permission denied\n",
                                  "bwrap: execvp /opt/x: No such file or directory\n", ""})
        EXPECT_FALSE(diagnose(text).may_pass) << text;
}

TEST(Diagnose, UnknownWordsArePassedOnWithoutControlCharacters) {
    base::Error error = diagnose("a warning\nbwrap: odd \x1b[31mthing\n");
    EXPECT_NE(error.what.find("odd"), std::string::npos);
    EXPECT_EQ(error.what.find('\x1b'), std::string::npos);
    EXPECT_EQ(error.what.find("warning"), std::string::npos);
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
}

TEST(Diagnose, SilenceIsSaid) {
    EXPECT_FALSE(diagnose("").what.empty());
}

}  // namespace
