// SPDX-License-Identifier: MIT
#include "monitor/gather.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_directory.h"

namespace monitor {
namespace {

using testing_support::TemporaryDirectory;

std::string refusal(const std::string& name) {
    return R"({"v":1,"kind":"connection","verdict":"deny","name":")" + name + "\"}\n";
}
const std::string kAllowed = R"({"v":1,"kind":"connection","verdict":"allow","name":"\"deny\""})"
                             "\n";

TEST(Refusals, AreThoseOfTheRecordNewestFirst) {
    TemporaryDirectory directory;
    std::string record = directory.write("20240229-ab.jsonl",
                                         refusal("one") + kAllowed + refusal("two") + "{\"verdict\":\"deny");
    std::vector<base::Json> found = recent_refusals(record, 10);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].text("name"), "two");
    EXPECT_EQ(found[1].text("name"), "one");
    EXPECT_EQ(recent_refusals(record, 1).size(), 1u);
}

TEST(Refusals, AnAnswerIsNotTheRefusalThatFollowsIt) {
    TemporaryDirectory directory;
    std::string answer = R"({"v":1,"kind":"answer","id":1,"verdict":"deny","name":"one"})";
    EXPECT_EQ(recent_refusals(directory.write("a-b.jsonl", answer + "\n" + refusal("one")), 10).size(), 1u);
}

TEST(Refusals, AreReadFromTheNewestPartOfThisRecord) {
    TemporaryDirectory directory;
    std::string record = directory.write("20240229-ab.jsonl", refusal("first"));
    directory.write("20240229-ab.9.jsonl", refusal("ninth"));
    directory.write("20240229-ab.10.jsonl", refusal("tenth"));
    directory.write("20240229-ab.x.jsonl", refusal("none"));
    directory.write("20240229-abc.11.jsonl", refusal("another"));
    std::vector<base::Json> found = recent_refusals(record, 10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].text("name"), "tenth");
}

TEST(Refusals, OfALongRecordAreThoseAtItsEnd) {
    TemporaryDirectory directory;
    std::string text;
    for (int index = 0; index < 20'000; ++index) text += refusal(std::to_string(index));
    std::vector<base::Json> found = recent_refusals(directory.write("a-b.jsonl", text), 3);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].text("name"), "19999");
}

TEST(Refusals, OfWhatIsNoRecordAreNone) {
    TemporaryDirectory directory;
    EXPECT_TRUE(recent_refusals("", 10).empty());
    EXPECT_TRUE(recent_refusals("relative.jsonl", 10).empty());
    EXPECT_TRUE(recent_refusals(directory / "missing.jsonl", 10).empty());
    std::string pipe = directory / "pipe.jsonl";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_TRUE(recent_refusals(pipe, 10).empty());
    std::string link = directory / "link.jsonl";
    ASSERT_EQ(::symlink("/dev/zero", link.c_str()), 0);
    EXPECT_TRUE(recent_refusals(link, 10).empty());
    EXPECT_TRUE(recent_refusals(directory.write("binary.jsonl", std::string(200'000, '\0')), 10).empty());
}

}  // namespace
}  // namespace monitor
