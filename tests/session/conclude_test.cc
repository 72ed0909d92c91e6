// SPDX-License-Identifier: MIT
#include "session/conclude.h"

#include <gtest/gtest.h>

namespace {

using inner::Report;
using session::conclude;
using session::Outcome;

const std::vector<std::string> kCommand = {"tool"};

TEST(Conclude, APlainEndIsTheCommandsOwn) {
    auto ending = conclude(kCommand, Outcome{.may_have_run = true,
                                             .has_started = true,
                                             .ending = Report{.kind = Report::Kind::ended, .number = 77}});
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->exit_code, 77);
    EXPECT_TRUE(ending->reason.empty());
}

TEST(Conclude, ASignalIsNamed) {
    Outcome outcome{.may_have_run = true,
                    .has_started = true,
                    .ending = Report{.kind = Report::Kind::ended, .number = 11, .by_signal = true}};
    auto ending = conclude(kCommand, outcome);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->exit_code, 139);
    EXPECT_NE(ending->reason.find("tool was ended by signal 11"), std::string::npos);
}

TEST(Conclude, AJailThatVanishedWasKilled) {
    for (bool has_started : {false, true}) {
        auto ending = conclude(kCommand, Outcome{.may_have_run = true, .has_started = has_started});
        ASSERT_TRUE(ending);
        EXPECT_EQ(ending->exit_code, 137);
        EXPECT_NE(ending->reason.find("killed"), std::string::npos);
    }
}

TEST(Conclude, FailuresHaveTheirCodes) {
    struct Row {
        std::string_view step;
        int number;
        base::ExitCode code;
    };
    const Row rows[] = {{inner::kStepExecute, ENOENT, base::ExitCode::not_found},
                        {inner::kStepExecute, EACCES, base::ExitCode::not_executable},
                        {inner::kStepInterpreter, ENOENT, base::ExitCode::not_found},
                        {inner::kStepDirectory, ENOENT, base::ExitCode::jail_failed},
                        {inner::kStepCheck, ESTALE, base::ExitCode::jail_failed},
                        {inner::kStepStart, EAGAIN, base::ExitCode::jail_failed}};
    for (const Row& row : rows) {
        Report failure{.kind = Report::Kind::failed,
                       .number = row.number,
                       .step = std::string(row.step),
                       .object = "x\x1b"};
        auto ending = conclude(kCommand, Outcome{.failure = failure});
        ASSERT_FALSE(ending) << row.step;
        EXPECT_EQ(ending.error().exit_code, row.code) << row.step;
        EXPECT_EQ(ending.error().line().find('\x1b'), std::string::npos);
    }
}

TEST(Conclude, WithoutAnyReportBubblewrapIsHeard) {
    auto ending = conclude(kCommand, Outcome{.diagnostics = "bwrap: setting up uid map: Permission denied"});
    ASSERT_FALSE(ending);
    EXPECT_EQ(ending.error().exit_code, base::ExitCode::jail_failed);
    EXPECT_NE(ending.error().what.find("user namespaces"), std::string::npos);
}

}  // namespace
