// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "audit/reader.h"
#include "audit/record_case.h"
#include "audit/verify.h"
#include "base/encoding/json.h"
#include "base/encoding/sha256.h"
#include "base/text.h"

namespace {

// Opened as a record is. The in-memory files of base are sealed, so they can't be used here.
base::Fd new_file() {
    return base::Fd(::memfd_create("record", MFD_CLOEXEC));
}

class WriterTest : public testing::Test {
  protected:
    void SetUp() override {
        file_ = new_file();
        ASSERT_TRUE(static_cast<bool>(file_));
    }
    base::Fd another() const { return base::Fd(::dup(file_.get())); }
    std::vector<std::string> lines() const {
        ::lseek(file_.get(), 0, SEEK_SET);
        base::Result<std::string> text = base::read_descriptor(file_.get());
        std::vector<std::string> lines;
        for (std::string_view line : base::split(*text, '\n')) {
            if (!line.empty()) lines.emplace_back(line);
        }
        return lines;
    }

    base::Fd file_;
};

TEST_F(WriterTest, WithoutANameHasNoChain) {
    audit::Writer writer(another(), "", "seed", 0);
    writer.write(audit::Line("start"));
    ASSERT_EQ(lines().size(), 1U);
    EXPECT_EQ(lines()[0].find("previous"), std::string::npos);
    EXPECT_EQ(writer.head().hash, "");
}

TEST_F(WriterTest, EachLineHoldsTheHashOfTheOneBefore) {
    audit::Writer writer(another(), "supervisor", "seed", 0);
    for (int i = 0; i < 3; ++i) writer.write(audit::Line("policy"));
    std::vector<std::string> written = lines();
    ASSERT_EQ(written.size(), 3U);
    std::string expected = base::sha256("seed");
    for (size_t i = 0; i < written.size(); ++i) {
        base::Result<base::Json> line = base::Json::parse(written[i]);
        ASSERT_TRUE(line);
        EXPECT_EQ(line->text("previous"), expected);
        EXPECT_EQ(line->number("line"), static_cast<int64_t>(i + 1));
        EXPECT_EQ(line->text("writer"), "supervisor");
        expected = base::sha256(written[i]);
    }
    EXPECT_EQ(writer.head().hash, expected);
    EXPECT_EQ(writer.head().lines, 3U);
}

TEST_F(WriterTest, SaysWhenAPartIsFullAndGoesOnInTheNext) {
    audit::Writer writer(another(), "gateway", "seed", 300);
    writer.write(audit::Line("lookup"));
    EXPECT_FALSE(writer.is_full());
    writer.write(audit::Line("lookup"));
    EXPECT_TRUE(writer.is_full());
    std::string head = writer.head().hash;
    base::Fd next = new_file();
    ASSERT_TRUE(static_cast<bool>(next));
    writer.go_on(base::Fd(::dup(next.get())));
    EXPECT_FALSE(writer.is_full());
    writer.write(audit::Line("lookup"));
    ::lseek(next.get(), 0, SEEK_SET);
    base::Result<std::string> text = base::read_descriptor(next.get());
    EXPECT_NE(text->find(head), std::string::npos);
}

TEST_F(WriterTest, ADiskThatTakesNothingCostsLinesAndIsToldOfLater) {
    audit::Writer writer(base::Fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "gateway", "seed", 0);
    ASSERT_TRUE(static_cast<bool>(writer));
    for (int i = 0; i < 3; ++i) writer.write(audit::Line("lookup"));
    EXPECT_EQ(writer.lost(), 3U);
    EXPECT_EQ(writer.head().lines, 0U);
    writer.go_on(another());
    writer.write(audit::Line("mail"));
    writer.write(audit::Line("mail"));
    std::vector<std::string> written = lines();
    ASSERT_EQ(written.size(), 3U);
    base::Result<base::Json> about = base::Json::parse(written[0]);
    ASSERT_TRUE(about);
    EXPECT_EQ(about->text("kind"), "journal");
    EXPECT_EQ(about->text("reason"), "lines could not be written");
    EXPECT_EQ(about->number("count"), 3);
    EXPECT_EQ(about->number("line"), 1);
    EXPECT_EQ(writer.lost(), 3U);
}

// Limits the size of files to simulate a full disk: the kernel writes only the first part of a line.
class Room {
  public:
    Room() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    static void set(uint64_t bytes) {
        struct rlimit limit;
        ::getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    void open() const { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    struct rlimit before_ {};
    void (*handler_)(int) = SIG_DFL;
};

class FullDiskTest : public test::RecordCase {
  protected:
    // Makes a record whose disk was full for a while, `taken` bytes into the third line. Another writer may
    // write first when there is space again.
    void make(uint64_t taken, bool has_other) const {
        Room room;
        std::filesystem::remove(path());
        audit::Writer writer(appending(), "supervisor", test::kSession, 0);
        audit::Writer other(appending(), "gateway", test::kSession, 0);
        writer.write(std::move(audit::Line("start").text("session", test::kSession)));
        writer.write(audit::Line("mail"));
        Room::set(std::filesystem::file_size(path()) + taken);
        for (int i = 0; i < 3; ++i) writer.write(audit::Line("mail"));
        room.open();
        if (has_other) other.write(audit::Line("lookup"));
        writer.write(audit::Line("mail"));
        audit::Line end("end");
        end.begin_object("writers");
        if (has_other) {
            end.begin_object("gateway").number("lines", 1).text("hash", other.head().hash).end_object();
        }
        end.end_object();
        writer.write(std::move(end));
        lost_ = writer.lost();
    }
    mutable uint64_t lost_ = 0;
};

TEST_F(FullDiskTest, WhereverALineWasCutTheChainGoesOnFromTheLastWholeOne) {
    make(0, false);
    size_t length = lines()[1].size() + 1;
    for (bool has_other : {false, true}) {
        for (uint64_t taken = 0; taken <= length + 2; ++taken) {
            make(taken, has_other);
            // A line that lacks only its line break is complete.
            uint64_t expected = taken + 1 < length ? 3 : 2;
            EXPECT_EQ(lost_, expected) << taken;
            base::Result<audit::Verification> result = audit::verify(path());
            ASSERT_TRUE(result);
            EXPECT_EQ(result->outcome, audit::Verification::Outcome::intact) << taken << to_text(*result);
            EXPECT_EQ(result->lost, expected) << taken;
            EXPECT_EQ(result->lines, 8U - expected + (has_other ? 1 : 0)) << taken;
        }
    }
}

TEST_F(FullDiskTest, ReadersPassOverTheBeginningAndFindWhatComesAfter) {
    make(40, false);
    audit::Reader reader(path());
    ASSERT_TRUE(reader.open());
    std::vector<std::string> kinds;
    while (std::optional<audit::Event> event = reader.next()) kinds.push_back(event->kind());
    EXPECT_EQ(kinds, (std::vector<std::string>{"start", "mail", "journal", "mail", "end"}));
    EXPECT_EQ(reader.passed_over().damaged, 1U);
    EXPECT_EQ(reader.passed_over().first_damaged, path() + ":3");
}

TEST_F(FullDiskTest, WhatWasAlteredIsStillNoticed) {
    make(40, false);
    std::vector<std::string> changed = lines();
    changed.erase(changed.begin() + 1);
    put_lines(changed);
    EXPECT_EQ(audit::verify(path())->outcome, audit::Verification::Outcome::broken);
}

}  // namespace
