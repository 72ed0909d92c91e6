// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "backends/native/launch.h"
#include "backends/native/script.h"
#include "base/file.h"

namespace {

using backends::native::diagnose;
using backends::native::Failure;
using backends::native::Phase;

// Sends the failure through a pipe, as the child of a launch does.
base::Error heard(const Failure& failure) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd reader(ends[0]), writer(ends[1]);
    backends::native::send_failure(writer.get(), failure);
    writer.reset();
    base::Result<std::string> said = base::read_descriptor(reader.get());
    EXPECT_TRUE(said);
    return diagnose(*said);
}

TEST(Diagnose, NamesTheStepTheObjectAndTheReason) {
    base::Error error = heard({EPERM, Phase::step, "home/ann/project", "/home/ann/project"});
    EXPECT_EQ(error.what,
              "the jail could not be built: cannot show /home/ann/project at /home/ann/project in the jail: "
              "Operation not permitted");
    EXPECT_NE(error.advice.find("plan"), std::string::npos);
    EXPECT_EQ(error.exit_code, base::ExitCode::jail_failed);
}

TEST(Diagnose, WhatChangedMeanwhileIsWorthAnotherAttempt) {
    for (int number : {ELOOP, ENOENT, ENOTDIR}) {
        const base::Error error = heard({number, Phase::step, "p/.git", "/p/.git"});
        EXPECT_NE(error.advice.find("try again"), std::string::npos) << number;
        EXPECT_TRUE(error.may_pass) << number;
    }
    EXPECT_FALSE(heard({EPERM, Phase::step, "p", "/p"}).may_pass);
    EXPECT_FALSE(heard({ENOENT, Phase::root}).may_pass);
    EXPECT_NE(heard({ESTALE, Phase::step, "p", "/p"}).advice.find("submit"), std::string::npos);
}

TEST(Diagnose, EveryPhaseHasWords) {
    for (auto phase = Phase::namespaces; phase <= Phase::privileges;
         phase = static_cast<Phase>(static_cast<int>(phase) + 1)) {
        base::Error error = heard({EACCES, phase, "object", "other"});
        EXPECT_NE(error.what.find("Permission denied"), std::string::npos) << error.what;
        EXPECT_EQ(error.what.find("cannot :"), std::string::npos) << error.what;
        EXPECT_FALSE(error.advice.empty());
    }
}

TEST(Diagnose, AnUnfriendlyNameIsPrintedSafely) {
    EXPECT_EQ(heard({EPERM, Phase::step, "p/\x1b[2J", "/p"}).line().find('\x1b'), std::string::npos);
}

TEST(Diagnose, NothingSaidIsAnEndFromOutside) {
    EXPECT_NE(diagnose("").what.find("ended while it was made"), std::string::npos);
    EXPECT_NE(diagnose("7").what.find("ended while it was made"), std::string::npos);
}

}  // namespace
