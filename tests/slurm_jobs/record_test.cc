// SPDX-License-Identifier: MIT
#include "slurm/jobs/spec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>

#include "base/file.h"

namespace {

class Records : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-records.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        state_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(state_); }
    std::string state_;
};

TEST_F(Records, AreKeptAndFound) {
    ASSERT_TRUE(
        slurm::keep_record(state_, "17", {"hash", "/p/job.sh a", "/p", "/p/out", "/p/err", "/dev/null"}));
    auto record = slurm::find_record(state_, "17");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->command, "/p/job.sh a");
    EXPECT_EQ(record->project, "hash");
    EXPECT_EQ(record->input, "/dev/null");
    EXPECT_FALSE(slurm::find_record(state_, "18"));
    struct stat status;
    ASSERT_EQ(::stat((state_ + "/slurm/jobs/17").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Records, AJobIsANumber) {
    EXPECT_FALSE(slurm::keep_record(state_, "../17", {}));
    EXPECT_FALSE(slurm::find_record(state_, "../../etc/passwd"));
}

TEST_F(Records, MessagesAboutAJobAreItsLastLines) {
    std::filesystem::create_directories(state_ + "/slurm/output");
    ASSERT_TRUE(base::write_file_atomically(state_ + "/slurm/output/17", std::string(5000, 'x') + "end\n"));
    EXPECT_EQ(slurm::messages_about(state_, "17").size(), 2048u);
    EXPECT_TRUE(slurm::messages_about(state_, "17").ends_with("xend\n"));
    EXPECT_EQ(slurm::messages_about(state_, "18"), "");
    EXPECT_EQ(slurm::messages_about(state_, "../jobs/17"), "");
    std::filesystem::create_symlink("17", state_ + "/slurm/output/19");
    EXPECT_EQ(slurm::messages_about(state_, "19"), "");
}

TEST_F(Records, OldOnesGo) {
    ASSERT_TRUE(slurm::keep_record(state_, "1", {}));
    ASSERT_TRUE(slurm::keep_record(state_, "2", {}));
    time_t now = ::time(nullptr);
    struct timespec then[] = {{now - 100L * 24 * 3600, 0}, {now - 100L * 24 * 3600, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (state_ + "/slurm/jobs/1").c_str(), then, 0), 0);
    slurm::remove_old_records(state_, now);
    EXPECT_FALSE(slurm::find_record(state_, "1"));
    EXPECT_TRUE(slurm::find_record(state_, "2"));
}

}  // namespace
