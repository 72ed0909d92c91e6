// SPDX-License-Identifier: MIT
#include "cli/sessions/exec_result.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using base::Json;

TEST(ExecResultTest, AnObjectHasTheStatusAndBothStreams) {
    session::CapturedOutput output;
    output.out.add("out\n");
    output.err.add("e\xff");
    const Json result = cli::exec_result({.exit_code = 3, .duration = std::chrono::milliseconds(12)}, output);
    EXPECT_EQ(
        result.dump(-1),
        R"({"exit_status":3,"signal":null,"ended_with_session":false,"duration_ms":12,)"
        R"("stdout":"out\n","stdout_bytes":4,"stdout_truncated":false,"stdout_replaced":false,)"
        "\"stderr\":\"e\uFFFD\",\"stderr_bytes\":2,\"stderr_truncated\":false,\"stderr_replaced\":true}");
}

TEST(ExecResultTest, ASignalHasItsNumber) {
    const Json result = cli::exec_result({.exit_code = 143, .by_signal = true}, {});
    EXPECT_EQ(result.number("exit_status"), 143);
    EXPECT_EQ(result.number("signal"), 15);
}

TEST(ExecResultTest, LongOutputIsCut) {
    session::CapturedOutput output;
    output.out.add(std::string(session::CapturedOutput::kMostOfStream + 1, 'x'));
    const Json result = cli::exec_result({}, output);
    EXPECT_TRUE(result.truth("stdout_truncated"));
    EXPECT_FALSE(result.truth("stderr_truncated"));
    EXPECT_LT(result.text("stdout").size(), session::CapturedOutput::kMostOfStream + 100);
}

class RefusedMeanwhileTest : public testing::Test {
  protected:
    void add(const std::string& lines) { std::ofstream(record_, std::ios::app) << lines; }
    void TearDown() override { std::filesystem::remove(record_); }

    std::string record_ =
        testing::TempDir() + "exec_result." + testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr const char* kEarly = R"({"v":1,"time":"t","kind":"mail","verdict":"deny","name":"early"})"
                               "\n";
constexpr const char* kLate =
    R"({"v":1,"time":"t","kind":"mail","verdict":"deny","name":"late","reason":"r"})"
    "\n";

TEST_F(RefusedMeanwhileTest, OnlyLinesAfterItsConstructionCount) {
    add(kEarly);
    session::Known known{.metadata = Json::object().set("log", record_)};
    cli::RefusedMeanwhile refused(known, {});
    add(kLate);
    add(R"({"v":1,"time":"t","kind":"mail","verdict":"allow","name":"permitted"})"
        "\n");
    const Json entries = refused.take();
    ASSERT_EQ(entries.items().size(), 1U) << entries.dump();
    EXPECT_EQ(entries.items()[0].text("what"), "late");
    EXPECT_EQ(entries.items()[0].number("count"), 1);
}

TEST_F(RefusedMeanwhileTest, ASessionWithoutARecordHasNull) {
    EXPECT_TRUE(cli::RefusedMeanwhile({.metadata = Json::object()}, {}).take().is_null());
    session::Known known{.metadata = Json::object().set("log", record_ + ".missing")};
    EXPECT_TRUE(cli::RefusedMeanwhile(known, {}).take().is_null());
}

}  // namespace
