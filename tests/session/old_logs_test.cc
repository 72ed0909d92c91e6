// SPDX-License-Identifier: MIT
#include "session/control/record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/temporary_directory.h"

namespace session {
namespace {

void make(const std::string& path, std::time_t written) {
    ASSERT_TRUE(base::write_file_atomically(path, "{}\n"));
    struct timespec times[] = {{.tv_sec = written, .tv_nsec = 0}, {.tv_sec = written, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(OldLogs, AreRemovedAndNothingElse) {
    testing_support::TemporaryDirectory directory;
    const std::string at = directory.path() + "/";
    const std::time_t now = 2'000'000'000;
    make(at + "new.jsonl", now - 60);
    make(at + "almost.jsonl", now - kLongestKept + 60);
    make(at + "old.jsonl", now - kLongestKept - 60);
    make(at + "old.txt", now - kLongestKept - 60);
    remove_old_logs(directory.path(), kLongestKept, now);
    EXPECT_TRUE(base::file_exists(at + "new.jsonl"));
    EXPECT_TRUE(base::file_exists(at + "almost.jsonl"));
    EXPECT_FALSE(base::file_exists(at + "old.jsonl"));
    EXPECT_TRUE(base::file_exists(at + "old.txt"));
    remove_old_logs(at + "not-there", kLongestKept, now);
}

TEST(StaleDrafts, AreRemovedAndNothingElse) {
    testing_support::TemporaryDirectory directory;
    const std::string at = directory.path() + "/";
    const std::time_t now = 2'000'000'000, long_ago = now - 7200;
    make(at + "private-etc.new.4711", long_ago);
    make(at + "private-etc.new.4712", now - 60);
    for (const char* name : {"private-etc", "private-etc.new", ".new.1", "a.new.", "a.new.b1", "a.new.1b"})
        make(at + name, long_ago);
    remove_left_drafts(directory.path(), now);
    EXPECT_FALSE(base::file_exists(at + "private-etc.new.4711"));
    EXPECT_TRUE(base::file_exists(at + "private-etc.new.4712"));
    for (const char* name : {"private-etc", "private-etc.new", ".new.1", "a.new.", "a.new.b1", "a.new.1b"})
        EXPECT_TRUE(base::file_exists(at + name)) << name;
}

}  // namespace
}  // namespace session
