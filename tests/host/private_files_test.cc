// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

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

// After any number of directories another process goes on, and finds the same.
TEST_F(PrivateFilesTest, AWalkGoesOnWhereAnotherStopped) {
    for (int looked_into = 0; looked_into <= 4; ++looked_into) {
        PrivateFilesWalk walk(at("etc"));
        for (int i = 0; i < looked_into && !walk.is_over(); ++i) walk.look_into_next();
        std::optional<PrivateFilesWalk> second = PrivateFilesWalk::decode(walk.encode());
        ASSERT_TRUE(second) << looked_into;
        EXPECT_EQ(second->is_over(), walk.is_over());
        EXPECT_EQ(second->finish().value(), find());
    }
}

TEST_F(PrivateFilesTest, AnIncompleteWalkIsNotDecoded) {
    PrivateFilesWalk walk(at("etc"));
    walk.look_into_next();
    const std::string whole = walk.encode();
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(PrivateFilesWalk::decode(whole.substr(0, length))) << length;
}

// The reader begins anew, and gets the error.
TEST_F(PrivateFilesTest, AWalkThatFailedSendsNothing) {
    PrivateFilesWalk walk(at("etc"));
    {
        testing_support::FewDescriptors limit(0);
        walk.look_into_next();
    }
    EXPECT_TRUE(walk.is_over());
    EXPECT_EQ(walk.encode(), "");
    EXPECT_FALSE(walk.finish());
}

TEST_F(PrivateFilesTest, AListIsRecalledAsItWasKept) {
    const std::string state = directory_ / "state";
    EXPECT_FALSE(recall_private_files(state));
    for (const Paths& list : {Paths{}, find(), Paths{Path::known("/etc/with\nline")}}) {
        keep_private_files(state, list);
        EXPECT_EQ(recall_private_files(state), list);
    }
}

TEST_F(PrivateFilesTest, AnIncompleteListIsNotRecalled) {
    const std::string state = directory_ / "state";
    keep_private_files(state, find());
    const std::string file = std::filesystem::directory_iterator(state + "/private-files")->path();
    const std::string whole = base::read_file(file).value();
    for (size_t length = 0; length < whole.size(); ++length) {
        ASSERT_TRUE(base::write_file_atomically(file, whole.substr(0, length)));
        EXPECT_FALSE(recall_private_files(state)) << length;
    }
}

// One descriptor is open at once.
TEST_F(PrivateFilesTest, WithoutDescriptorsThereIsNoAnswer) {
    {
        testing_support::FewDescriptors limit(0);
        base::Result<Paths> found = find_private_files(at("etc"));
        ASSERT_FALSE(found);
        EXPECT_NE(found.error().what.find("Too many open files"), std::string::npos) << found.error().what;
    }
    testing_support::FewDescriptors limit(1);
    EXPECT_EQ(find().size(), 2u);
}

}  // namespace
}  // namespace host
