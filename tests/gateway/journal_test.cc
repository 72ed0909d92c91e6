// SPDX-License-Identifier: MIT
#include "network/gateway/control/messages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/encoding/json.h"
#include "base/text.h"

namespace network::gateway {
namespace {

class JournalTest : public ::testing::Test {
  protected:
    JournalTest() {
        char path[] = "/tmp/journal_test_XXXXXX";
        file_ = base::Fd(::mkstemp(path));
        ::fcntl(file_.get(), F_SETFL, O_APPEND);
        ::unlink(path);
    }
    audit::Writer writer(uint64_t part_size = 0) const {
        return audit::Writer(base::Fd(::dup(file_.get())), "", "", part_size);
    }
    std::vector<std::string> lines() const {
        ::lseek(file_.get(), 0, SEEK_SET);
        std::string text = *base::read_descriptor(file_.get());
        std::vector<std::string> made;
        for (std::string_view line : base::split(text, '\n')) made.emplace_back(line);
        EXPECT_EQ(made.back(), "") << "every line is ended";
        made.pop_back();
        return made;
    }

  private:
    base::Fd file_;
};

// Replaces every digit by zero.
std::string shape_of(std::string text) {
    for (char& letter : text)
        if (letter >= '0' && letter <= '9') letter = '0';
    return text;
}

Entry connection(std::string name, bool is_allowed = true) {
    Entry entry;
    entry.kind = "connection";
    entry.protocol = "tls";
    entry.name = std::move(name);
    entry.address = "192.0.2.1";
    entry.port = 443;
    entry.is_allowed = is_allowed;
    entry.cause = "rule";
    entry.sent = 100;
    entry.received = 5'000'000'000;
    entry.duration = std::chrono::milliseconds(1234);
    return entry;
}

TEST_F(JournalTest, WritesOneObjectPerLine) {
    Journal journal(writer());
    journal.record(connection("example.org"));
    journal.record(connection("other.example.org", false));
    ASSERT_EQ(lines().size(), 2u);
    base::Json line = *base::Json::parse(lines()[0]);
    EXPECT_EQ(line.number("v"), 1);
    EXPECT_EQ(shape_of(line.text("time")), "0000-00-00T00:00:00.000Z");
    EXPECT_EQ(line.text("kind"), "connection");
    EXPECT_EQ(line.text("verdict"), "allow");
    EXPECT_EQ(line.text("protocol"), "tls");
    EXPECT_EQ(line.text("name"), "example.org");
    EXPECT_EQ(line.text("address"), "192.0.2.1");
    EXPECT_EQ(line.number("port"), 443);
    EXPECT_EQ(line.number("sent"), 100);
    EXPECT_EQ(line.number("received"), 5'000'000'000);
    EXPECT_EQ(line.number("duration_ms"), 1234);
    EXPECT_EQ(line.find("rule"), nullptr) << "what is empty is left out";
    EXPECT_EQ(base::Json::parse(lines()[1])->text("verdict"), "deny");
}

TEST_F(JournalTest, EscapesWhatIsNotPlain) {
    Journal journal(writer());
    journal.record(connection("a\n{\"v\":1}\\ \x1b[31m \xe2\x80\xae \xff\x7f"));
    ASSERT_EQ(lines().size(), 1u);
    std::string line = lines()[0];
    for (char letter : line) EXPECT_TRUE(letter >= 0x20 && letter < 0x7f);
    EXPECT_NE(line.find(R"("name":"a\u000a{\"v\":1}\\ \u001b[31m \u00e2\u0080\u00ae \u00ff\u007f")"),
              std::string::npos);
    EXPECT_TRUE(base::Json::parse(lines()[0]).ok());
}

TEST_F(JournalTest, CutsWhatIsLong) {
    Journal journal(writer());
    journal.record(connection(std::string(10'000, 'a')));
    EXPECT_EQ(base::Json::parse(lines()[0])->text("name"), std::string(256, 'a') + "...");
}

TEST_F(JournalTest, LeavesOutPermittedRequestsAloneAfterABurst) {
    RequestEntry request{
        .name = "example.org", .port = 443, .method = "GET", .path = "/", .is_allowed = true};
    Journal journal(writer());
    size_t written = 0;
    // There may be room for further ones meanwhile.
    for (; !journal.leaves_out_requests(); ++written) EXPECT_TRUE(journal.record_request(request));
    EXPECT_GE(written, static_cast<size_t>(Journal::kBurst));
    EXPECT_EQ(lines().size(), written);
    request.is_allowed = false;
    request.path = "/refused";
    EXPECT_TRUE(journal.record_request(request));
    EXPECT_NE(lines().back().find("/refused"), std::string::npos);
    Journal counts_alone{audit::Writer()};
    EXPECT_FALSE(counts_alone.leaves_out_requests()) << "without a record nothing is missing in it";
}

TEST_F(JournalTest, SaysOnceThatAPartIsFullAndGoesOnInTheNext) {
    Journal journal(writer(1000));
    int times = 0;
    journal.when_full([&] { ++times; });
    for (int i = 0; i < 20; ++i) journal.record(connection("example.org", false));
    EXPECT_EQ(times, 1);
    EXPECT_EQ(lines().size(), 20u) << "nothing is lost until there is another part";
    base::Fd next(::memfd_create("next", MFD_CLOEXEC));
    journal.go_on(base::Fd(::dup(next.get())));
    journal.record(connection("example.org"));
    EXPECT_EQ(lines().size(), 20u);
    EXPECT_GT(::lseek(next.get(), 0, SEEK_END), 0);
    for (int i = 0; i < 20; ++i) journal.record(connection("example.org", false));
    EXPECT_EQ(times, 2);
    EXPECT_EQ(journal.head().lines, 41u);
}

TEST_F(JournalTest, SaysWhatWasOnlyObserved) {
    Journal journal(writer());
    Entry entry = connection("example.org");
    entry.is_observed = true;
    entry.change = "--allow-host example.org";
    journal.record(entry);
    base::Json line = *base::Json::parse(lines()[0]);
    EXPECT_EQ(line.text("verdict"), "observed");
    EXPECT_EQ(line.text("change"), "--allow-host example.org");
    EXPECT_EQ(journal.refusals().total, 0u);
}

TEST_F(JournalTest, HasQuestionsAndAnswers) {
    Journal journal(writer());
    journal.record_ask({.id = 7, .name = "new.example", .port = 443});
    journal.record_answer({.id = 7, .name = "new.example", .port = 443, .reason = "not today"});
    base::Json ask = *base::Json::parse(lines()[0]), answer = *base::Json::parse(lines()[1]);
    EXPECT_EQ(ask.text("kind"), "ask");
    EXPECT_EQ(ask.number("id"), 7);
    EXPECT_EQ(ask.text("name"), "new.example");
    EXPECT_EQ(ask.number("port"), 443);
    EXPECT_EQ(ask.find("verdict"), nullptr);
    EXPECT_EQ(answer.text("kind"), "answer");
    EXPECT_EQ(answer.text("verdict"), "deny");
    EXPECT_EQ(answer.text("reason"), "not today");
}

TEST(Journal, CountsRefusalsByTarget) {
    Journal journal{audit::Writer()};
    journal.record(connection("example.org"));
    journal.record(connection("pastebin.com", false));
    journal.record(connection("pastebin.com", false));
    Entry literal = connection("", false);
    literal.address = "2001:db8::1";
    journal.record(literal);
    Entry lookup = connection("file.io", false);
    lookup.port = 0;
    journal.record(lookup);
    EXPECT_EQ(journal.refusals().total, 4u);
    EXPECT_EQ(
        journal.refusals().by_target,
        (std::map<std::string, uint64_t>{{"pastebin.com:443", 2}, {"[2001:db8::1]:443", 1}, {"file.io", 1}}));
    for (int i = 0; i < 1000; ++i) journal.record(connection("n" + std::to_string(i), false));
    EXPECT_EQ(journal.refusals().by_target.size(), Journal::kMostRefusals);
    EXPECT_EQ(journal.refusals().total, 1004u);
}

TEST(Journal, TakesItsWordsFromTheVerdict) {
    Verdict verdict{.decision = Decision::deny,
                    .cause = Cause::port_floor,
                    .rule = "port 25",
                    .origin = config::from_flag("--network"),
                    .reason = "mail"};
    Entry entry = entry_of(verdict);
    EXPECT_FALSE(entry.is_allowed);
    EXPECT_EQ(entry.cause, "port floor");
    EXPECT_EQ(entry.rule, "port 25");
    EXPECT_EQ(entry.origin, "--network");
    EXPECT_EQ(entry.reason, "mail");
}

// Threat: a jail causes tens of thousands of refusals to push its real connections out of a record of limited
// size.
TEST_F(JournalTest, AFloodOfRefusalsLeavesRoomForWhatWasDone) {
    Journal journal(writer());
    for (int i = 0; i < 20'000; ++i) journal.record(connection("no.example.org", false));
    journal.record(connection("done.example.org"));
    size_t refused = 0, left_out = 0;
    // On a slow machine the journal regains some room in the meantime, and writes a line about the omitted
    // refusals.
    for (const std::string& text : lines()) {
        base::Json line = *base::Json::parse(text);
        if (line.text("kind") == "journal") left_out += static_cast<size_t>(line.number("count"));
        if (line.text("name") == "no.example.org") ++refused;
    }
    EXPECT_GE(refused, 5000u);
    EXPECT_LT(refused, 7000u);
    EXPECT_EQ(refused + left_out, 20'000u);
    EXPECT_NE(lines().back().find("done.example.org"), std::string::npos) << "what was done is always there";
    size_t before = lines().size();
    EXPECT_EQ(journal.refusals().total, 20'000u);
    journal.finish();
    EXPECT_EQ(lines().size(), before) << "nothing more to tell";
}

}  // namespace
}  // namespace network::gateway
