// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/few_descriptors.h"
#include "base/file.h"
#include "base/temporary_directory.h"

namespace host {
namespace {

using base::Path;
using Paths = std::vector<Path>;

class PrivateFilesTest : public testing::Test {
  protected:
    void SetUp() override {
        ::umask(022);
        put("etc/hosts", 0644);
        put("etc/ssl/private/key", 0600);
        ::chmod((directory_ / "etc/ssl/private").c_str(), 0750);
        put("etc/app/token", 0640);
    }
    void put(std::string_view name, mode_t mode) { ::chmod(directory_.write(name, "").c_str(), mode); }
    Path at(std::string_view name) const { return Path::known(directory_ / name); }
    Paths find() const { return find_private_files(at("etc")).value(); }
    testing_support::TemporaryDirectory directory_;
};

TEST_F(PrivateFilesTest, AreTheTopmostThatNotEveryoneMayRead) {
    EXPECT_EQ(find(), (Paths{at("etc/app/token"), at("etc/ssl/private")}));
}

TEST_F(PrivateFilesTest, LinksAreNotFollowed) {
    ASSERT_EQ(::symlink("app/token", at("etc/link").c_str()), 0);
    ASSERT_EQ(::symlink(directory_.path().c_str(), at("etc/up").c_str()), 0);
    EXPECT_EQ(find().size(), 2u);
}

TEST_F(PrivateFilesTest, EveryLookSeesWhatIsThere) {
    find();
    // A change of a file's mode does not change its directory.
    ::chmod(at("etc/hosts").c_str(), 0600);
    put("etc/app/second", 0600);
    EXPECT_EQ(find(),
              (Paths{at("etc/app/second"), at("etc/app/token"), at("etc/hosts"), at("etc/ssl/private")}));
    ::chmod(at("etc/hosts").c_str(), 0644);
    ::unlink(at("etc/app/second").c_str());
    EXPECT_EQ(find().size(), 2u);
}

TEST_F(PrivateFilesTest, AThreadFindsTheSame) {
    PrivateFilesSearch search(at("etc"));
    EXPECT_EQ(search.wait().value(), find());
    EXPECT_EQ(search.wait().value(), find());
}

TEST_F(PrivateFilesTest, ASearchThatIsNotWaitedForEnds) {
    PrivateFilesSearch search(at("etc"));
}

// At most two descriptors are open at once: /etc and a directory in it.
TEST_F(PrivateFilesTest, WithoutDescriptorsThereIsNoAnswer) {
    for (unsigned few : {0u, 1u}) {
        testing_support::FewDescriptors limit(few);
        base::Result<Paths> found = find_private_files(at("etc"));
        ASSERT_FALSE(found) << few;
        EXPECT_NE(found.error().what.find("Too many open files"), std::string::npos) << found.error().what;
    }
    EXPECT_EQ(find().size(), 2u);
}

}  // namespace
}  // namespace host
