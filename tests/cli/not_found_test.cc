// SPDX-License-Identifier: MIT
#include "cli/report/run_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace {

class NotFound : public testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directories(directory_);
        std::ofstream(directory_ + "/run.sh") << "true\n";
        caller_.working_directory = base::Path::known(directory_);
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string hint(const std::string& word) const { return cli::hint_for_nothing(word, caller_); }

    std::string directory_ = testing::TempDir() + "/not-found-" + std::to_string(::getpid());
    cli::Caller caller_;
};

TEST_F(NotFound, OrdinaryCommandsAreNotTakenForVerbs) {
    std::string nowhere = "it is not there outside the jail either: install it, or look at PATH";
    EXPECT_EQ(hint("docker"), nowhere);
    EXPECT_EQ(hint("ll"), nowhere);
    EXPECT_EQ(hint("plann"), nowhere + "; or did you mean agent-sandbox plan?");
    EXPECT_EQ(hint("doctro"), nowhere);
    EXPECT_EQ(hint("profilse"), nowhere + "; or did you mean agent-sandbox profiles?");
}

TEST_F(NotFound, WhatWasMeantIsSaid) {
    EXPECT_EQ(hint("run.sh"), "there is ./run.sh, which is not in PATH: agent-sandbox ./run.sh");
    EXPECT_EQ(hint("./nofile.sh"), "the file does not exist outside the jail either");
    EXPECT_EQ(hint("ls -la"), "it is one word with a blank: leave the quotes out, or write sh -c 'ls -la'");
    EXPECT_EQ(hint("FOO=1"), "to set a variable, write --env FOO=1 before the command");
    EXPECT_NE(hint("=x").find("install it"), std::string::npos);
}

}  // namespace
