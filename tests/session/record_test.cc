// SPDX-License-Identifier: MIT
#include "session/control/record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "base/text.h"

namespace session {
namespace {

constexpr const char* kSession = "0123456789abcdef0123456789abcdef";

audit::Line filling() {
    audit::Line line("lookup");
    line.text("name", std::string(200, 'a'));
    return line;
}

size_t parts_in(const std::string& directory) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
        count += entry.path().extension() == ".jsonl";
    return count;
}

TEST(Record, IsForItsOwnerAlone) {
    testing_support::TemporaryDirectory directory;
    Record record;
    ASSERT_TRUE(record.open(directory.path() + "/sessions", kSession, {.is_wanted = true}));
    struct stat status;
    ASSERT_EQ(::stat(record.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat((directory.path() + "/sessions").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    EXPECT_NE(record.path().find(kSession), std::string::npos);
}

TEST(Record, FollowsNoLink) {
    testing_support::TemporaryDirectory directory;
    std::string elsewhere = directory.path() + "/elsewhere";
    std::filesystem::create_directory(directory.path() + "/sessions");
    // One link for each of the next seconds, because the name contains the time.
    for (time_t moment = ::time(nullptr); moment < ::time(nullptr) + 5; ++moment) {
        std::string name =
            directory.path() + "/sessions/" + base::utc_stamp(moment) + "-" + kSession + ".jsonl";
        std::filesystem::create_symlink(elsewhere, name);
    }
    Record record;
    EXPECT_FALSE(record.open(directory.path() + "/sessions", kSession, {.is_wanted = true}));
    EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST(Record, KeepsTheFirstPartAndTheNewest) {
    testing_support::TemporaryDirectory directory;
    Record record;
    ASSERT_TRUE(record.open(directory.path(), kSession, {.is_wanted = true, .size = 4000}));
    for (int i = 0; i < 100; ++i) {
        record.writer().write(filling());
        bool goes_on = !record.writer().is_full() || record.next_part();
        EXPECT_TRUE(goes_on);
    }
    EXPECT_EQ(parts_in(directory.path()), 4U);
    EXPECT_TRUE(std::filesystem::exists(record.path()));
    uintmax_t all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) all += entry.file_size();
    EXPECT_LT(all, 4000U + 4 * 400);
}

TEST(Record, AHelperWritesToTheSameFile) {
    testing_support::TemporaryDirectory directory;
    Record record;
    ASSERT_TRUE(record.open(directory.path(), kSession, {.is_wanted = true, .is_chained = true}));
    Record::Share share = record.share();
    EXPECT_EQ(share.seed, kSession);
    audit::Writer helper(std::move(share.file), "gateway", share.seed, share.part_size);
    helper.write(filling());
    record.writer().write(filling());
    base::Result<std::string> text = base::read_file(record.path());
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("\"writer\":\"gateway\""), std::string::npos);
    EXPECT_NE(text->find("\"writer\":\"supervisor\""), std::string::npos);
}

std::string put_file(const std::string& path, std::time_t written) {
    EXPECT_TRUE(base::write_file_atomically(path, "{}\n"));
    struct utimbuf times = {.actime = written, .modtime = written};
    ::utime(path.c_str(), &times);
    return path;
}

TEST(OldRecords, GoOnceAnHour) {
    testing_support::TemporaryDirectory directory;
    auto make_old = [&](const std::string& name) { return put_file(directory.path() + "/" + name, 1000); };
    std::time_t now = ::time(nullptr);
    std::string first = make_old("first.jsonl"), other = make_old("other.txt");
    remove_old_records(directory.path(), 60, now);
    EXPECT_FALSE(std::filesystem::exists(first));
    EXPECT_TRUE(std::filesystem::exists(other));
    std::string second = make_old("second.jsonl");
    remove_old_records(directory.path(), 60, now + 60);
    EXPECT_TRUE(std::filesystem::exists(second)) << "looked at a minute ago";
    remove_old_records(directory.path(), 60, now + 4000);
    EXPECT_FALSE(std::filesystem::exists(second));
}

TEST(OldRecords, AClockThatJumpsTakesNone) {
    constexpr std::time_t kDay = 24 * 3600, kKept = 30 * kDay, kYears = 3650 * kDay;
    testing_support::TemporaryDirectory directory;
    std::time_t now = ::time(nullptr);
    std::string record = put_file(directory.path() + "/record.jsonl", now - kDay);
    remove_old_records(directory.path(), kKept, now);
    remove_old_records(directory.path(), kKept, now + kYears);
    EXPECT_TRUE(std::filesystem::exists(record)) << "it is years ahead";
    // The clock was corrected: the mark is in the future.
    std::string mark = put_file(directory.path() + "/last-look", now + kYears);
    remove_old_records(directory.path(), kKept, now + 60);
    EXPECT_TRUE(std::filesystem::exists(record));
    remove_old_records(directory.path(), kKept, 0);
    EXPECT_TRUE(std::filesystem::exists(record)) << "it is back at the beginning";
    // The clock did not jump: an hour later it still shows the later time.
    put_file(mark, now + kYears);
    remove_old_records(directory.path(), kKept, now + kYears + 4000);
    EXPECT_FALSE(std::filesystem::exists(record));
}

}  // namespace
}  // namespace session
