// SPDX-License-Identifier: MIT
#include "audit/reader.h"
#include "audit/record_case.h"
#include "base/text.h"

namespace {

using audit::Event;
using audit::Reader;

class ReaderTest : public test::RecordCase {
  protected:
    std::vector<Event> read() {
        reader_.emplace(path());
        std::vector<Event> events;
        if (!reader_->open()) return events;
        while (std::optional<Event> event = reader_->next()) events.push_back(*std::move(event));
        return events;
    }
    std::optional<Reader> reader_;
};

constexpr const char* kPlain = R"({"v":1,"time":"t","kind":"mail"})";

TEST_F(ReaderTest, GoesThroughThePartsInOrder) {
    for (unsigned part : {1U, 2U, 10U, 3U}) {
        audit::Writer writer(appending(part), "", "", 0);
        writer.write(std::move(audit::Line("policy").number("part", part)));
    }
    put(directory_ + "/20240229T235959Z-" + test::kSession + ".x.jsonl", "not a part\n");
    std::vector<Event> events = read();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[1].json.number("part"), 2);
    EXPECT_EQ(events[2].json.number("part"), 3);
    EXPECT_EQ(events[3].json.number("part"), 10);
    EXPECT_EQ(events[3].file, path(10));
    EXPECT_EQ(reader_->passed_over().missing_parts, 6U);
    ASSERT_EQ(reader_->gaps().size(), 1U);
    EXPECT_EQ(reader_->gaps().front().first, 4U);
    EXPECT_EQ(reader_->gaps().front().last, 9U);
}

TEST_F(ReaderTest, SkipsWhatIsThereAndReadsWhatComesLater) {
    for (unsigned part : {1U, 2U}) audit::Writer(appending(part), "", "", 0).write(audit::Line("policy"));
    Reader reader(path());
    ASSERT_TRUE(reader.open().ok());
    ASSERT_TRUE(reader.next());
    reader.skip_to_end();
    EXPECT_FALSE(reader.next());
    for (unsigned part : {2U, 3U}) {
        audit::Writer writer(appending(part), "", "", 0);
        writer.write(std::move(audit::Line("policy").number("part", part)));
    }
    for (int64_t part : {2, 3}) {
        std::optional<Event> event = reader.next();
        ASSERT_TRUE(event);
        EXPECT_EQ(event->json.number("part"), part);
    }
    EXPECT_FALSE(reader.next());
}

TEST_F(ReaderTest, FindsTheLastUseOfACredential) {
    auto line = [](const char* time, const char* verdict, const char* names) {
        return base::format(
            R"({{"v":1,"time":"{}","kind":"request","verdict":"{}","path":"/x","credential":"{}"}})"
            "\n",
            time, verdict, names);
    };
    put(directory_ + "/20240101T000000Z-" + std::string(32, 'a') + ".jsonl",
        line("2024-01-01T00:00:01Z", "allow", "old github") + line("2024-01-01T00:00:02Z", "deny", "old"));
    put(directory_ + "/20240102T000000Z-" + std::string(32, 'b') + ".jsonl",
        line("2024-01-02T00:00:05Z", "allow", "github") + line("2024-01-02T00:00:04Z", "allow", "github"));
    put(directory_ + "/20240102T000000Z-" + std::string(32, 'b') + ".2.jsonl",
        R"({"v":1,"time":"2030","kind":"ask","credential":"github"})"
        "\n" +
            line("2024-01-02T00:00:09Z", "allow", "npm"));
    std::map<std::string, std::string> uses = audit::last_uses(directory_, {"github", "npm", "old", "none"});
    EXPECT_EQ(uses.size(), 3U);
    EXPECT_EQ(uses["github"], "2024-01-02T00:00:05Z");
    EXPECT_EQ(uses["npm"], "2024-01-02T00:00:09Z");
    EXPECT_EQ(uses["old"], "2024-01-01T00:00:01Z");
    EXPECT_TRUE(audit::last_uses(directory_ + "/missing", {"github"}).empty());
}

TEST_F(ReaderTest, PassesOverWhatIsNoLineOfARecord) {
    std::string deep(100'000, '[');
    put_lines({kPlain, "", "garbage", "[1]", "{\"v\":2,\"kind\":\"new\"}", "{\"v\":\"1\",\"kind\":\"x\"}",
               "{\"v\":1}", deep, std::string("\0\xff\x1b", 3), std::string(audit::kLongestLine + 1, 'x'),
               std::string(3 * audit::kLongestLine, 'x'), kPlain});
    std::vector<Event> events = read();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].number, 12U);
    EXPECT_EQ(reader_->passed_over().damaged, 8U);
    EXPECT_EQ(reader_->passed_over().newer, 1U);
    EXPECT_EQ(reader_->passed_over().first_damaged, path() + ":3");
}

TEST_F(ReaderTest, AnUnfinishedLineMayStillBeFinished) {
    put(path(), std::string(kPlain) + "\n" + std::string(kPlain).substr(0, 10));
    EXPECT_EQ(read().size(), 1U);
    EXPECT_TRUE(reader_->passed_over().has_unfinished_line);
    std::ofstream(path(), std::ios::app) << std::string(kPlain).substr(10) << "\n";
    EXPECT_TRUE(reader_->next().has_value());
    EXPECT_FALSE(reader_->passed_over().has_unfinished_line);
    EXPECT_EQ(reader_->passed_over().damaged, 0U);
}

TEST_F(ReaderTest, ALineBehindHalfOfAnotherIsFound) {
    put_lines({std::string(kPlain).substr(0, 20) + kPlain});
    std::vector<Event> events = read();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].text, kPlain);
    EXPECT_EQ(reader_->passed_over().damaged, 1U);
}

TEST_F(ReaderTest, WholeLinesWithoutABreakBetweenThemAreAllFound) {
    put_lines({std::string(kPlain) + kPlain, "", std::string(kPlain).substr(0, 20), kPlain});
    EXPECT_EQ(read().size(), 3U);
    EXPECT_EQ(reader_->passed_over().damaged, 1U);
    EXPECT_EQ(reader_->passed_over().first_damaged, path() + ":3");
}

TEST_F(ReaderTest, TheLastLineOfAPartMayMissItsBreak) {
    put(path(), kPlain);
    put_lines({kPlain}, 2);
    EXPECT_EQ(read().size(), 2U);
    EXPECT_EQ(reader_->passed_over().damaged, 0U);
}

TEST_F(ReaderTest, GivesTheBytesThatWereRecorded) {
    std::string name = "gr\xc3\xbc\xc3\x9f \x1b[31m \xff";
    audit::Writer writer(appending(), "", "", 0);
    writer.write(std::move(audit::Line("file").path("path", name)));
    EXPECT_EQ(read().at(0).value("path"), name);
}

TEST_F(ReaderTest, FollowsUntilTheEnd) {
    audit::Writer writer(appending(), "", "", 0);
    writer.write(audit::Line("start"));
    Reader reader(path());
    ASSERT_TRUE(reader.open());
    int looks = 0;
    std::vector<std::string> kinds;
    audit::follow(
        reader,
        [&](const Event& event) {
            kinds.push_back(event.kind());
            return true;
        },
        [&] {
            if (++looks == 1) writer.write(audit::Line("mail"));
            if (looks == 2) writer.go_on(appending(2));
            if (looks == 2) writer.write(audit::Line("end"));
            return looks < 100;
        });
    EXPECT_EQ(kinds, (std::vector<std::string>{"start", "mail", "end"}));
    EXPECT_LT(looks, 20);
}

TEST_F(ReaderTest, FollowsUntilTheSessionIsGone) {
    audit::Writer writer(appending(), "", "", 0);
    Reader reader(path());
    ASSERT_TRUE(reader.open());
    int events = 0;
    audit::follow(
        reader, [&](const Event&) { return ++events > 0; },
        [&] {
            writer.write(audit::Line("mail"));  // the last line before the session ends
            return false;
        });
    EXPECT_EQ(events, 1);
}

TEST_F(ReaderTest, FindsRecordsByTheBeginningOfAnId) {
    std::string other = "0123ffff89abcdef0123456789abcdef";
    put(path(), "");
    put(path(2), "");
    put(directory_ + "/20240301T000000Z-" + other + ".jsonl", "");
    put(directory_ + "/20240302T000000Z-network.jsonl", "");
    EXPECT_EQ(audit::records_in(directory_).size(), 2U);
    EXPECT_EQ(audit::find_record(directory_, "last")->session, other);
    EXPECT_EQ(audit::find_record(directory_, "")->session, other);
    EXPECT_EQ(audit::find_record(directory_, "01234")->path, path());
    EXPECT_EQ(audit::find_record(directory_, path())->session, test::kSession);
    EXPECT_FALSE(audit::find_record(directory_, "0123"));
    EXPECT_FALSE(audit::find_record(directory_, "012"));
    EXPECT_FALSE(audit::find_record(directory_, "abcd"));
    EXPECT_FALSE(audit::find_record(directory_, "Last"));
    EXPECT_FALSE(audit::find_record(directory_ + "/absent", "last"));
}

TEST_F(ReaderTest, ADirectoryOrNothingIsNoRecord) {
    EXPECT_FALSE(Reader(path()).open());
    EXPECT_FALSE(Reader(directory_).open());
    EXPECT_FALSE(Reader(path()).next());
}

}  // namespace
