// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

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
    Paths find() const {
        Paths found = find_private_files(at("etc"), directory_ / "state/private-etc").value();
        std::ranges::sort(found);
        return found;
    }
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

TEST_F(PrivateFilesTest, TheAnswerIsKeptWhileNoDirectoryChanges) {
    find();
    // A mode that changes leaves its directory as it was.
    ::chmod(at("etc/hosts").c_str(), 0600);
    EXPECT_EQ(find().size(), 2u);
    put("etc/app/second", 0600);
    EXPECT_EQ(find(),
              (Paths{at("etc/app/second"), at("etc/app/token"), at("etc/hosts"), at("etc/ssl/private")}));
}

TEST_F(PrivateFilesTest, AnAnswerThatCannotBeBelievedIsNotUsed) {
    const std::string cache = directory_ / "state/private-etc";
    const Paths expected = find();
    const std::string sound = *base::read_file(cache);
    const std::string without_end = sound.substr(0, sound.find("\nH ") + 1);
    const size_t time = sound.find("\nT ") + 1;
    const std::string without_time = sound.substr(0, time) + sound.substr(sound.find('\n', time) + 1);
    const std::string forgeries[] = {without_end,
                                     "",
                                     "agent-sandbox private files 2\n",
                                     sound.substr(0, sound.size() - 1),
                                     "another version\n" + sound.substr(sound.find('\n') + 1),
                                     "agent-sandbox private files 2\n4294967294:1\nend\n",
                                     without_time.substr(0, without_time.find("D ")) + "end\n",
                                     without_time,
                                     without_end + "H relative\nend\n",
                                     without_end + "?\nend\n"};
    for (const std::string& forgery : forgeries) {
        ASSERT_TRUE(base::write_file_atomically(cache, forgery));
        EXPECT_EQ(find(), expected) << forgery;
    }
}

TEST_F(PrivateFilesTest, AnOldAnswerIsNotUsed) {
    find();
    ::chmod(at("etc/hosts").c_str(), 0600);
    const std::string kept = directory_ / "state/private-etc";
    std::string text = *base::read_file(kept);
    size_t time = text.find("\nT ") + 3;
    text.replace(time, text.find('\n', time) - time, std::to_string(::time(nullptr) - 2 * 3600));
    ASSERT_TRUE(base::write_file_atomically(kept, text));
    EXPECT_EQ(find().size(), 3u);
}

TEST_F(PrivateFilesTest, ADirectoryWithoutSecretsIsLookedAtOnceAMinute) {
    put("etc/open/file", 0644);
    find();
    put("etc/open/secret", 0600);
    EXPECT_EQ(find().size(), 2u);
    const std::string kept = directory_ / "state/private-etc";
    std::filesystem::last_write_time(kept,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
    EXPECT_EQ(find().size(), 3u);
}

TEST_F(PrivateFilesTest, AFullLookCountsForTheNextMinute) {
    const std::string kept = directory_ / "state/private-etc";
    find();
    auto before = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2);
    std::filesystem::last_write_time(kept, before);
    find();
    EXPECT_GT(std::filesystem::last_write_time(kept), before + std::chrono::minutes(1));
}

// At most two are open at once: of /etc and of a directory in it.
TEST_F(PrivateFilesTest, WithoutDescriptorsThereIsNoAnswerAndNoneIsKept) {
    for (unsigned few : {0u, 1u}) {
        testing_support::FewDescriptors limit(few);
        base::Result<Paths> found = find_private_files(at("etc"), directory_ / "state/private-etc");
        ASSERT_FALSE(found) << few;
        EXPECT_NE(found.error().what.find("Too many open files"), std::string::npos) << found.error().what;
    }
    EXPECT_FALSE(base::file_exists(directory_ / "state/private-etc"));
    EXPECT_EQ(find().size(), 2u);
}

TEST_F(PrivateFilesTest, WorksWithoutAPlaceForTheAnswer) {
    directory_.write("file", "");
    EXPECT_EQ(find_private_files(at("etc"), directory_ / "file/below/cache")->size(), 2u);
}

}  // namespace
}  // namespace host
