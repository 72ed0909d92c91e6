// SPDX-License-Identifier: MIT
#include "tracer/record.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/file.h"

namespace {

using namespace std::chrono_literals;
using tracer::Clock;
using tracer::End;

class Record : public testing::Test {
  protected:
    Record() : file_(::memfd_create("record", MFD_CLOEXEC)) {}

    std::string written() const {
        ::lseek(file_.get(), 0, SEEK_SET);
        return *base::read_descriptor(file_.get(), 64u << 20);
    }
    size_t lines() const {
        std::string text = written();
        return static_cast<size_t>(std::ranges::count(text, '\n'));
    }
    bool has(std::string_view text) const { return written().find(text) != std::string::npos; }

    base::Fd file_;
    tracer::Record record_{audit::Writer(base::Fd(::dup(file_.get())), "", "", 0), {}};
    tracer::Command command_{{"curl", "--token", "hunter2"}, "/project", Clock::time_point()};
};

TEST_F(Record, TellsEachFileOnceForEachAccess) {
    tracer::ClosedFile file{.path = "/a", .cause = "hidden"};
    record_.add(file);
    record_.add(file);
    file.is_write = true;
    record_.add(file);
    EXPECT_EQ(lines(), 2u);
    EXPECT_EQ(record_.summary().files, 2u);
    EXPECT_TRUE(has(R"("kind":"file","verdict":"deny","path":"/a","access":"read","cause":"hidden")"));
}

TEST_F(Record, StopsAtSoManyFiles) {
    for (size_t i = 0; i < tracer::kMostFiles + 10; ++i) record_.add({.path = "/" + std::to_string(i)});
    EXPECT_EQ(lines(), tracer::kMostFiles + 1);
    EXPECT_TRUE(has(R"("kind":"journal")"));
}

TEST_F(Record, TellsACommandWithoutItsSecrets) {
    record_.add(7, command_, {End::Kind::exited, 3}, Clock::time_point() + 12ms);
    EXPECT_FALSE(has("hunter2"));
    EXPECT_TRUE(has(R"("directory":"/project","pid":7,"status":3,"duration_ms":12)"));
}

TEST_F(Record, TellsHowACommandEnded) {
    record_.add(7, command_, {End::Kind::killed, SIGTERM}, Clock::time_point());
    record_.add(7, command_, {End::Kind::replaced}, Clock::time_point());
    record_.add(8, command_, {End::Kind::running}, Clock::time_point());
    EXPECT_TRUE(has(R"("pid":7,"signal":15,)"));
    EXPECT_TRUE(has(R"("pid":7,"replaced":true,)"));
    record_.add(9, command_, {End::Kind::unknown}, Clock::time_point());
    EXPECT_TRUE(has(R"("pid":8,"duration_ms")"));
    EXPECT_TRUE(has(R"("pid":9,"duration_ms")"));
}

TEST_F(Record, TellsTheFirstRefusalAtOnceAndTheirNumberAtTheEnd) {
    for (int i = 0; i < 5; ++i) record_.add_refused("mount", EPERM);
    EXPECT_EQ(lines(), 1u);
    EXPECT_TRUE(has(R"("name":"mount","error":"EPERM")"));
    EXPECT_TRUE(has(R"("change":"isolation.allow_nested_namespaces = true","count":1)"));
    record_.add_refused("bpf", EPERM);
    record_.finish();
    EXPECT_EQ(lines(), 3u);
    EXPECT_TRUE(has(R"("count":5)"));
    EXPECT_EQ(record_.summary().system_calls, 6u);
}

TEST(Commands, GoFromTheirExecutionToTheirEnd) {
    tracer::Commands commands;
    EXPECT_FALSE(commands.start(7, {.words = {"sh"}}));
    auto former = commands.start(7, {.words = {"cc"}});
    ASSERT_TRUE(former);
    EXPECT_EQ(former->words.front(), "sh");
    EXPECT_EQ(commands.find(8), nullptr);
    EXPECT_EQ(commands.take(7)->words.front(), "cc");
    EXPECT_FALSE(commands.take(7));
}

TEST(Commands, ReadWhatTheKernelKeeps) {
    EXPECT_EQ(tracer::end_of(0x0300).kind, End::Kind::exited);
    EXPECT_EQ(tracer::end_of(0x0300).number, 3);
    EXPECT_EQ(tracer::end_of(SIGKILL).kind, End::Kind::killed);
    EXPECT_EQ(tracer::end_of(SIGSEGV | 0x80).number, SIGSEGV);
}

TEST(Messages, ComeBackAsTheyWere) {
    tracer::Summary summary{1, 2, 3, 4, "hash"};
    EXPECT_EQ(tracer::decode_summary(tracer::encode(summary)), summary);
    EXPECT_FALSE(tracer::decode_summary("summary"));
    EXPECT_FALSE(tracer::decode_summary(tracer::encode_failure("why")));
    EXPECT_EQ(tracer::decode_failure(tracer::encode_failure("why")), "why");
}

}  // namespace
