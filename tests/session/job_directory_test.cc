// SPDX-License-Identifier: MIT
#include "session/slurm_job.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using session::JobDirectory;

class JobDirectoryTest : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-places.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        base_ = pattern;
        fs::create_directory(base_ + "/files");
        fs::create_directory(base_ + "/memory");
    }
    void TearDown() override { fs::remove_all(base_); }
    bool enter(JobDirectory& directory, const std::string& job) {
        return directory.enter(job, key_, base_ + "/files", base_ + "/memory");
    }
    // The directory of a job below files/.
    std::string own_of(const std::string& job) {
        JobDirectory directory;
        EXPECT_TRUE(enter(directory, job));
        return directory.temporary().parent().str();
    }
    std::string base_;
    std::string key_ = "a key of 32 bytes, only ours know";
};

TEST_F(JobDirectoryTest, AreSharedByAJobAndGoWithItsLastJail) {
    std::optional<JobDirectory> first, second;
    first.emplace();
    second.emplace();
    ASSERT_TRUE(enter(*first, "17"));
    ASSERT_TRUE(enter(*second, "17"));
    EXPECT_EQ(first->temporary(), second->temporary());
    std::string seen = first->temporary().str();
    std::ofstream(seen + "/file") << "x";
    fs::create_directory(seen + "/closed");
    fs::permissions(seen + "/closed", fs::perms::none);
    first.reset();
    EXPECT_TRUE(fs::exists(seen + "/file")) << "the other still runs";
    second.reset();
    EXPECT_FALSE(fs::exists(seen));
}

TEST_F(JobDirectoryTest, OfTwoJobsAreApart) {
    JobDirectory one, other;
    ASSERT_TRUE(enter(one, "17"));
    ASSERT_TRUE(enter(other, "18"));
    EXPECT_NE(one.temporary(), other.temporary());
    EXPECT_NE(one.shared_memory(), other.shared_memory());
}

TEST_F(JobDirectoryTest, WhatAKilledJobLeftGoesWithTheNext) {
    std::string own = own_of("5");
    fs::create_directories(own + "/tmp");
    fs::permissions(own, fs::perms::owner_all);
    std::ofstream(own + "/lock") << "";
    std::string memory = base_ + "/memory/" + fs::path(own).filename().string();
    fs::create_directories(memory + "/shm");
    JobDirectory directory;
    ASSERT_TRUE(enter(directory, "6"));
    EXPECT_FALSE(fs::exists(own));
    EXPECT_FALSE(fs::exists(memory));
}

TEST_F(JobDirectoryTest, OfAJobThatRunsAreNotSwept) {
    JobDirectory one, other;
    ASSERT_TRUE(enter(one, "17"));
    std::ofstream(one.temporary().str() + "/file") << "x";
    ASSERT_TRUE(enter(other, "18"));
    EXPECT_TRUE(fs::exists(one.temporary().str() + "/file"));
}

// Threat: another user creates the names that can be guessed, before the job starts.
TEST_F(JobDirectoryTest, CantBeTakenByAnotherUser) {
    std::string uid = std::to_string(::getuid());
    for (const std::string& name : {".agent-sandbox-" + uid, ".agent-sandbox-" + uid + "-17"}) {
        fs::create_directory(base_ + "/files/" + name);
        fs::permissions(base_ + "/files/" + name, fs::perms::all);
    }
    JobDirectory directory;
    ASSERT_TRUE(enter(directory, "17"));
    std::string first = fs::path(directory.temporary().parent().str()).filename();
    // The name can't be derived from the job's number and the user.
    key_ = "another key that has 32 bytes too";
    EXPECT_NE(fs::path(own_of("17")).filename(), first);
    EXPECT_NE(fs::path(own_of("18")).filename(), fs::path(own_of("17")).filename());
}

// Even if another user finds the name, a directory that is not ours is not used.
TEST_F(JobDirectoryTest, APlaceThatIsNotOursIsNotUsed) {
    std::string own = own_of("17");
    fs::create_directory(base_ + "/elsewhere");
    fs::create_symlink(base_ + "/elsewhere", own);
    JobDirectory directory;
    EXPECT_FALSE(enter(directory, "17"));
    EXPECT_TRUE(directory.temporary().is_root());
    EXPECT_EQ(directory.record(), "");
    EXPECT_TRUE(fs::is_empty(base_ + "/elsewhere"));
    fs::remove(own);
    fs::create_directory(own);
    fs::permissions(own, fs::perms::all);
    EXPECT_FALSE(enter(directory, "17"));
}

TEST_F(JobDirectoryTest, ManyJailsThatComeAndGoShareOne) {
    std::vector<std::thread> threads;
    std::atomic<int> apart = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                JobDirectory one;
                if (!enter(one, "17") || !fs::exists(one.temporary().str()) ||
                    !fs::exists(one.shared_memory().str()))
                    ++apart;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(apart, 0);
    EXPECT_TRUE(fs::is_empty(base_ + "/files"));
    EXPECT_TRUE(fs::is_empty(base_ + "/memory"));
}

TEST_F(JobDirectoryTest, TheKeyIsMadeOnceAndIsPrivate) {
    std::string state = base_ + "/state";
    std::vector<std::thread> threads;
    std::mutex guard;
    std::set<std::string> keys;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            auto key = session::job_key(state);
            std::lock_guard lock(guard);
            keys.insert(key ? *key : "failed");
        });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys.begin()->size(), 32u);
    EXPECT_EQ(fs::status(state + "/job-key").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(JobDirectoryTest, AJobIsANumber) {
    JobDirectory directory;
    EXPECT_FALSE(enter(directory, "../17"));
    EXPECT_FALSE(enter(directory, ""));
}

}  // namespace
