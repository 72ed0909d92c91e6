// SPDX-License-Identifier: MIT
#include "session/job_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace {

namespace fs = std::filesystem;
using session::JobPlace;

class JobPlaces : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-places.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        base_ = pattern;
        fs::create_directory(base_ + "/files");
        fs::create_directory(base_ + "/memory");
    }
    void TearDown() override { fs::remove_all(base_); }
    bool enter(JobPlace& place, const std::string& job) {
        return place.enter(job, base_ + "/files", base_ + "/memory");
    }
    std::string base_;
};

TEST_F(JobPlaces, AreSharedByAJobAndGoWithItsLastJail) {
    std::optional<JobPlace> first, second;
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

TEST_F(JobPlaces, OfTwoJobsAreApart) {
    JobPlace one, other;
    ASSERT_TRUE(enter(one, "17"));
    ASSERT_TRUE(enter(other, "18"));
    EXPECT_NE(one.temporary(), other.temporary());
    EXPECT_NE(one.shared_memory(), other.shared_memory());
}

TEST_F(JobPlaces, WhatAKilledJobLeftGoesWithTheNext) {
    std::string own = base_ + "/files/.agent-sandbox-" + std::to_string(::getuid());
    fs::create_directory(own);
    fs::permissions(own, fs::perms::owner_all);
    fs::create_directory(own + "/5");
    std::ofstream(own + "/5.lock") << "";
    JobPlace place;
    ASSERT_TRUE(enter(place, "6"));
    EXPECT_FALSE(fs::exists(own + "/5"));
    EXPECT_FALSE(fs::exists(own + "/5.lock"));
}

// Threat: another user makes the name first, as a link or a directory of his own mode.
TEST_F(JobPlaces, APlaceThatIsNotOursIsNotUsed) {
    std::string own = base_ + "/files/.agent-sandbox-" + std::to_string(::getuid());
    fs::create_directory(base_ + "/elsewhere");
    fs::create_symlink(base_ + "/elsewhere", own);
    JobPlace place;
    EXPECT_FALSE(enter(place, "17"));
    EXPECT_TRUE(place.temporary().is_root());
    EXPECT_TRUE(fs::is_empty(base_ + "/elsewhere"));
    fs::remove(own);
    fs::create_directory(own);
    fs::permissions(own, fs::perms::all);
    EXPECT_FALSE(enter(place, "17"));
}

TEST_F(JobPlaces, AJobIsANumber) {
    JobPlace place;
    EXPECT_FALSE(enter(place, "../17"));
    EXPECT_FALSE(enter(place, ""));
}

}  // namespace
