// SPDX-License-Identifier: MIT
#include "session/discarded/private_home.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace {

using session::Discarded;
using session::PrivateHome;

// A directory of a tmpfs: the files of any other file system are not a private home directory.
class PrivateHomeTest : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/dev/shm/private-home.XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        home_ = name;
        plan_.private_home = base::Path::known(home_);
        std::filesystem::create_directories(home_ + "/wt");
        std::ofstream(home_ + "/wt/hello.txt") << "hello\n";
        std::ofstream(home_ + "/notes.txt") << "remember\n";
    }
    void TearDown() override { std::filesystem::remove_all(home_); }

    Discarded save() {
        PrivateHome home(plan_, state_, session_);
        home.inherit(base::Fd(::open(home_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
        return home.save();
    }
    static size_t stored(const Discarded& discarded) {
        return static_cast<size_t>(
            std::ranges::count_if(discarded.paths, &session::DiscardedPath::is_stored));
    }

    testing_support::TemporaryDirectory directory_;
    std::string home_, state_ = directory_ / "state", session_ = "0123456789abcdef";
    plan::Plan plan_;
};

TEST_F(PrivateHomeTest, StoresEachPath) {
    Discarded discarded = save();
    EXPECT_EQ(discarded.paths.size(), 2u);
    EXPECT_EQ(stored(discarded), 2u);
    EXPECT_TRUE(std::filesystem::exists(session::stored_home(state_, session_) + "/wt/hello.txt"));
}

TEST_F(PrivateHomeTest, SecondCallReportsWhatTheFirstStored) {
    Discarded first = save();
    Discarded second = save();
    EXPECT_EQ(second.ended, first.ended);
    EXPECT_EQ(second.paths.size(), 2u);
    EXPECT_EQ(stored(second), 2u);
}

TEST_F(PrivateHomeTest, FilesOfAnInterruptedCopyAreReplaced) {
    const std::string left = session::stored_home(state_, session_) + "/wt";
    std::filesystem::create_directories(left);
    std::ofstream(left + "/hello.txt") << "hel";
    EXPECT_EQ(stored(save()), 2u);
    EXPECT_EQ(std::filesystem::file_size(left + "/hello.txt"), 6u);
}

}  // namespace
