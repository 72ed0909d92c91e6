// SPDX-License-Identifier: MIT
#include "session/exit_status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "backends/bubblewrap/launch.h"

namespace {

using inner::Report;
using session::conclude;
using session::Outcome;

const plan::Plan kPlan = {.backend = base::Backend::bwrap, .command = {"tool"}};

TEST(ExitStatus, APlainEndIsTheCommandsOwn) {
    auto ending = conclude(kPlan, Outcome{.may_have_run = true,
                                          .has_started = true,
                                          .ending = Report{.kind = Report::Kind::ended, .number = 77}});
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->exit_code, 77);
    EXPECT_TRUE(ending->reason.empty());
}

TEST(ExitStatus, ASignalIsNamed) {
    Outcome outcome{.may_have_run = true,
                    .has_started = true,
                    .ending = Report{.kind = Report::Kind::ended, .number = 11, .by_signal = true}};
    auto ending = conclude(kPlan, outcome);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->exit_code, 139);
    EXPECT_NE(ending->reason.find("tool was ended by signal 11"), std::string::npos);
}

TEST(ExitStatus, AJailThatVanishedWasKilled) {
    for (bool has_started : {false, true}) {
        auto ending = conclude(kPlan, Outcome{.may_have_run = true, .has_started = has_started});
        ASSERT_TRUE(ending);
        EXPECT_EQ(ending->exit_code, 137);
        EXPECT_NE(ending->reason.find("killed"), std::string::npos);
    }
}

// The gateway reports that the namespaces have no process. The cause is still bubblewrap, even if it printed
// nothing.
TEST(ExitStatus, ABackendThatEndedIsNotTheNetworksFault) {
    auto silent = conclude(kPlan, Outcome{.gateway_failure = std::string(backends::bubblewrap::kNoJail)});
    ASSERT_FALSE(silent);
    EXPECT_NE(silent.error().what.find("without a word"), std::string::npos);
    auto network = conclude(kPlan, Outcome{.gateway_failure = "no addresses"});
    ASSERT_FALSE(network);
    EXPECT_NE(network.error().what.find("the network could not be set up: no addresses"), std::string::npos);
    EXPECT_NE(network.error().advice, "");
    auto port =
        conclude(kPlan, Outcome{.gateway_failure = "--publish: cannot publish port 80: Permission denied"});
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().advice, "") << "another network mode would not help";
}

TEST(ExitStatus, AJailWithoutItsTracerWasEndedAndSaysSo) {
    auto ending =
        conclude(kPlan, Outcome{.may_have_run = true, .has_started = true, .tracer_failure = "gone"});
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->exit_code, 137);
    EXPECT_TRUE(ending->by_limit);  // printed even in quiet mode
    EXPECT_NE(ending->reason.find("gone"), std::string::npos);
    auto early = conclude(kPlan, Outcome{.may_have_run = true, .tracer_failure = "no such kernel"});
    ASSERT_FALSE(early);
    EXPECT_NE(early.error().what.find("can't be traced: no such kernel"), std::string::npos);
}

TEST(ExitStatus, AJailThatNobodyLooksAfterRanNothing) {
    auto ending =
        conclude(kPlan, Outcome{.guard_failure = base::Error{.what = "cannot watch over the jail"}});
    ASSERT_FALSE(ending);
    EXPECT_EQ(ending.error().what, "cannot watch over the jail");
}

TEST(ExitStatus, AJailInATracedJailIsToldWhatToDo) {
    Report failure{.kind = Report::Kind::failed, .number = EBUSY, .step = std::string(inner::kStepTracer)};
    auto ending = conclude(kPlan, Outcome{.failure = failure});
    ASSERT_FALSE(ending);
    EXPECT_NE(ending.error().advice.find("inside a jail whose system calls are answered"), std::string::npos);
}

TEST(ExitStatus, AUserWithoutKeysLeftIsToldWhatTakesThem) {
    Report failure{.kind = Report::Kind::failed, .number = EDQUOT, .step = std::string(inner::kStepKeyring)};
    auto ending = conclude(kPlan, Outcome{.failure = failure});
    ASSERT_FALSE(ending);
    EXPECT_NE(ending.error().advice.find("kernel.keys.maxkeys"), std::string::npos);
}

plan::Plan limited() {
    plan::Plan plan = kPlan;
    plan.limits.wall_time = {.value = 600, .origin = config::from_flag("--limit")};
    plan.limits.memory = {.value = 512 << 20, .origin = config::from_flag("--limit")};
    plan.limits.file_size = {.value = 1000, .origin = config::from_flag("--limit")};
    plan.limits.processes = {.value = 20, .origin = config::from_flag("--limit")};
    return plan;
}

TEST(ExitStatus, ALimitHasItsCodeAndItsSentence) {
    Report killed{.kind = Report::Kind::ended, .number = SIGTERM, .by_signal = true};
    auto late =
        conclude(limited(), Outcome{.may_have_run = true, .ending = killed, .reached = "limits.wall_time"});
    EXPECT_EQ(late->exit_code, 124);
    EXPECT_FALSE(late->by_signal);
    EXPECT_TRUE(late->by_limit);
    EXPECT_EQ(late->reason, "stopped: limits.wall_time = 10m was reached (--limit)");
    auto full = conclude(limited(), Outcome{.may_have_run = true, .reached = "limits.memory"});
    EXPECT_EQ(full->exit_code, 137);
    EXPECT_EQ(full->reason, "stopped: limits.memory = 512M was reached (--limit)");
}

TEST(ExitStatus, ALimitThatTheCommandMetItselfIsNamed) {
    Report large{.kind = Report::Kind::ended, .number = SIGXFSZ, .by_signal = true};
    auto ending = conclude(limited(), Outcome{.may_have_run = true, .ending = large});
    EXPECT_EQ(ending->exit_code, 128 + SIGXFSZ);
    EXPECT_EQ(ending->reason, "tool was ended: limits.file_size = 1000 was reached (--limit)");
    EXPECT_EQ(conclude(kPlan, Outcome{.may_have_run = true, .ending = large})->by_limit, false);

    Report fine{.kind = Report::Kind::ended, .number = 0};
    ending = conclude(limited(), Outcome{.may_have_run = true, .ending = fine, .refused_processes = 3});
    EXPECT_EQ(ending->exit_code, 0);
    EXPECT_EQ(ending->reason, "limits.processes = 20 was reached (--limit): 3 processes were refused");
}

TEST(ExitStatus, FailuresHaveTheirCodes) {
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
        auto ending = conclude(kPlan, Outcome{.failure = failure});
        ASSERT_FALSE(ending) << row.step;
        EXPECT_EQ(ending.error().exit_code, row.code) << row.step;
        EXPECT_EQ(ending.error().line().find('\x1b'), std::string::npos);
    }
}

TEST(ExitStatus, WithoutAnyReportBubblewrapIsHeard) {
    auto ending = conclude(kPlan, Outcome{.diagnostics = "bwrap: setting up uid map: Permission denied"});
    ASSERT_FALSE(ending);
    EXPECT_EQ(ending.error().exit_code, base::ExitCode::jail_failed);
    EXPECT_NE(ending.error().what.find("user namespaces"), std::string::npos);
}

TEST(ExitStatus, WithoutAnyReportTheChildIsHeard) {
    plan::Plan plan = kPlan;
    plan.backend = base::Backend::native;
    using namespace std::string_literals;
    auto ending = conclude(plan, Outcome{.diagnostics = "2\0001\0\0\0"s});
    ASSERT_FALSE(ending);
    EXPECT_EQ(ending.error().exit_code, base::ExitCode::jail_failed);
    EXPECT_NE(ending.error().what.find("Operation not permitted"), std::string::npos) << ending.error().what;
}

}  // namespace
