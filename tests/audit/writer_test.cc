// SPDX-License-Identifier: MIT
#include "audit/writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace {

// As a record is opened: base's own files in memory are sealed.
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

}  // namespace
