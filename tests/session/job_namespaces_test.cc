// SPDX-License-Identifier: MIT
#include "session/slurm_job.h"

#include <gtest/gtest.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace {

using session::JobNamespaces;

class JobNamespacesOfANode : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-ranks.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    static ino_t identity(int descriptor) {
        struct stat status = {};
        EXPECT_EQ(::fstat(descriptor, &status), 0);
        return status.st_ino;
    }
    static ino_t own_ipc() {
        struct stat status = {};
        EXPECT_EQ(::stat("/proc/self/ns/ipc", &status), 0);
        return status.st_ino;
    }
    std::string directory_;
};

TEST_F(JobNamespacesOfANode, AreOneForAllRanks) {
    JobNamespaces first, second;
    first.join(directory_ + "/17.ranks");
    second.join(directory_ + "/17.ranks");
    ASSERT_EQ(first.descriptors().size(), 2u);
    ASSERT_EQ(second.descriptors().size(), 2u);
    EXPECT_EQ(identity(first.descriptors()[1]), identity(second.descriptors()[1]));
    EXPECT_NE(identity(first.descriptors()[1]), own_ipc()) << "not the host's";
    uid_t owner = ~0u;
    ASSERT_EQ(::ioctl(first.descriptors()[0], NS_GET_OWNER_UID, &owner), 0);
    EXPECT_EQ(owner, ::geteuid());
}

TEST_F(JobNamespacesOfANode, OfAnotherJobAreOthers) {
    JobNamespaces one, other;
    one.join(directory_ + "/17.ranks");
    other.join(directory_ + "/18.ranks");
    ASSERT_EQ(one.descriptors().size(), 2u);
    ASSERT_EQ(other.descriptors().size(), 2u);
    EXPECT_NE(identity(one.descriptors()[1]), identity(other.descriptors()[1]));
}

TEST_F(JobNamespacesOfANode, AHolderThatIsGoneIsReplaced) {
    std::ofstream(directory_ + "/17.ranks") << ::getpid() << " 1";
    JobNamespaces ranks;
    ranks.join(directory_ + "/17.ranks");
    ASSERT_EQ(ranks.descriptors().size(), 2u) << "the number is in use, but by another process";
    EXPECT_NE(identity(ranks.descriptors()[1]), own_ipc());
}

TEST_F(JobNamespacesOfANode, WithoutARecordThereAreNone) {
    JobNamespaces ranks;
    ranks.join(directory_ + "/missing/17.ranks");
    EXPECT_TRUE(ranks.descriptors().empty());
}

}  // namespace
