// SPDX-License-Identifier: MIT
#include "session/guard/placeholders.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/few_descriptors.h"
#include "base/temporary_directory.h"
#include "session/guard/trash.h"

namespace {

// Longer than a tick of the clock that file systems use for timestamps.
constexpr std::chrono::milliseconds kTick{30};

using base::Path;
using session::Placeholders;
using testing_support::FewDescriptors;
using testing_support::TemporaryDirectory;

class PlaceholdersTest : public testing::Test {
  protected:
    std::vector<Path> paths(const std::vector<std::string>& names) const {
        std::vector<Path> wanted;
        for (const std::string& name : names) wanted.push_back(Path::known(project(name)));
        return wanted;
    }
    base::Result<Placeholders> acquire(const std::vector<std::string>& names) {
        return Placeholders::acquire(directory_ / "state", paths(names));
    }
    std::string project(const std::string& name) const { return directory_ / ("p/" + name); }
    bool exists(const std::string& name) const { return std::filesystem::exists(project(name)); }
    size_t recorded() const { return std::filesystem::file_size(directory_ / "state/placeholders"); }

    void SetUp() override { std::filesystem::create_directory(directory_ / "p"); }

    TemporaryDirectory directory_;
};

TEST_F(PlaceholdersTest, ComeBackWhenSomebodyRemovesThem) {
    std::filesystem::create_directory(project("theirs"));
    auto held = acquire({".vscode", "a/b/c", "theirs"});
    ASSERT_TRUE(held) << held.error().line();
    std::filesystem::remove_all(directory_ / "p/a");
    std::filesystem::remove(project(".vscode"));
    std::filesystem::remove(project("theirs"));
    held->renew();
    EXPECT_TRUE(exists(".vscode"));
    EXPECT_TRUE(exists("a/b/c"));
    // It existed before, so it is not ours: a new one would be left behind.
    EXPECT_FALSE(exists("theirs"));
    held->release();
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p"));
    // A renewal after the release creates nothing, because it would be left behind.
    held->renew();
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p"));
}

TEST_F(PlaceholdersTest, AreMadeWithParentsAndTakenAway) {
    auto held = acquire({".vscode", "a/b/c"});
    ASSERT_TRUE(held) << held.error().line();
    EXPECT_TRUE(exists(".vscode"));
    EXPECT_TRUE(exists("a/b/c"));
    EXPECT_GT(recorded(), 0u);
    held->release();
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, AFileIsMadeAndTakenAwayUnlessItIsSomebodysByThen) {
    const Path dot = Path::known(project("git/commondir")),
               empty = Path::known(project("git/config.worktree"));
    auto held = Placeholders::acquire(directory_ / "state", {dot, empty}, {{dot, ".\n"}, {empty, ""}});
    ASSERT_TRUE(held) << held.error().line();
    EXPECT_EQ(std::filesystem::file_size(dot.str()), 2u);
    EXPECT_EQ(std::filesystem::file_size(empty.str()), 0u);
    auto second = Placeholders::acquire(directory_ / "state", {dot, empty}, {{dot, ".\n"}, {empty, ""}});
    ASSERT_TRUE(second) << second.error().line();
    held->release();
    EXPECT_TRUE(exists("git/commondir"));
    std::filesystem::remove(empty.str());
    directory_.write("p/git/config.worktree", "[core]\n");
    second->release();
    EXPECT_FALSE(exists("git/commondir"));
    EXPECT_EQ(std::filesystem::file_size(empty.str()), 7u);
}

TEST_F(PlaceholdersTest, WhatCantBeLookedAtForLackOfDescriptorsIsRemovedLater) {
    const Path file = Path::known(project("git/commondir"));
    size_t kept = 0;
    for (unsigned spare = 0; spare < 6; ++spare) {
        auto held = Placeholders::acquire(directory_ / "state", {file}, {{file, ".\n"}});
        ASSERT_TRUE(held) << held.error().line();
        {
            FewDescriptors few(spare);
            held->release();
            session::empty_trash(directory_ / "state");
        }
        kept += exists("git/commondir") ? 1 : 0;
        auto next = acquire({".idea"});
        ASSERT_TRUE(next) << next.error().line();
        next->release();
        session::empty_trash(directory_ / "state");
        EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p")) << "with " << spare << " descriptors";
    }
    EXPECT_GT(kept, 0u) << "the limit had no effect";
}

TEST_F(PlaceholdersTest, WhatWasThereStays) {
    std::filesystem::create_directory(project(".vscode"));
    auto held = acquire({".vscode", ".idea"});
    ASSERT_TRUE(held);
    held->release();
    EXPECT_TRUE(exists(".vscode"));
    EXPECT_FALSE(exists(".idea"));
}

TEST_F(PlaceholdersTest, TheLastOfTwoSessionsTakesThemAway) {
    auto first = acquire({".vscode", "a/b"});
    auto second = acquire({".vscode", "a/b"});
    ASSERT_TRUE(first && second);
    first->release();
    EXPECT_TRUE(exists(".vscode"));
    EXPECT_TRUE(exists("a/b"));
    second->release();
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, AParentWaitsForWhatAnotherSessionHoldsInIt) {
    auto first = acquire({"a/b"});
    auto second = acquire({"a/c", "a-b"});
    ASSERT_TRUE(first && second);
    first->release();
    EXPECT_FALSE(exists("a/b"));
    EXPECT_TRUE(exists("a/c"));
    second->release();
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "p"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, ContentIsNeverLost) {
    auto held = acquire({".vscode"});
    ASSERT_TRUE(held);
    std::this_thread::sleep_for(kTick);
    directory_.write("p/.vscode/tasks.json", "mine");
    held->release();
    EXPECT_TRUE(exists(".vscode/tasks.json"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, ContentThatCameAtOnceIsGivenBack) {
    auto held = acquire({".vscode"});
    ASSERT_TRUE(held);
    directory_.write("p/.vscode/tasks.json", "mine");
    held->release();
    session::empty_trash(directory_ / "state");
    EXPECT_TRUE(exists(".vscode/tasks.json"));
}

TEST_F(PlaceholdersTest, AKilledSessionIsCleanedUpByTheNext) {
    pid_t child = ::fork();
    if (child == 0) {
        auto held = acquire({".vscode", ".idea"});
        ::_exit(held ? 0 : 1);  // without destructors, as after SIGKILL
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(exists(".vscode"));
    auto next = acquire({".idea"});
    ASSERT_TRUE(next);
    EXPECT_FALSE(exists(".vscode"));
    EXPECT_TRUE(exists(".idea"));
    next->release();
    EXPECT_FALSE(exists(".idea"));
    EXPECT_EQ(recorded(), 0u);
}

// Each query of a lock takes time proportional to the number of locks.
TEST_F(PlaceholdersTest, AmongManySessionsOnlyTheOwnProjectIsLookedThrough) {
    std::vector<std::string> many;
    for (int number = 0; number < 600; ++number) many.push_back("crowd/" + std::to_string(number));
    for (const char* name : {"one", "other"}) std::filesystem::create_directory(project(name));
    pid_t child = ::fork();
    if (child == 0) ::_exit(acquire({"one/.vscode", "other/.vscode"}) ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    std::filesystem::create_directory(project("crowd"));
    auto crowd = Placeholders::acquire(directory_ / "state", paths(many), {}, Path::known(project("crowd")));
    ASSERT_TRUE(crowd);
    // `crowd` was the only session, so it removed the leftovers; the child leaves them once more.
    EXPECT_FALSE(exists("one/.vscode"));
    child = ::fork();
    if (child == 0) ::_exit(acquire({"one/.vscode", "other/.vscode"}) ? 0 : 1);
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    const Path one = Path::known(project("one"));
    auto session = Placeholders::acquire(directory_ / "state", {one / ".idea"}, {}, one);
    ASSERT_TRUE(session);
    EXPECT_FALSE(exists("one/.vscode"));
    EXPECT_TRUE(exists("other/.vscode"));
    crowd->release();
    session->release();
    EXPECT_FALSE(exists("other/.vscode"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, AForkedKeeperHoldsAlong) {
    auto held = acquire({".vscode"});
    ASSERT_TRUE(held);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t keeper = ::fork();
    if (keeper == 0) {
        char byte;
        ::close(ends[1]);
        (void)!::read(ends[0], &byte, 1);
        held->release();
        ::_exit(0);
    }
    ::close(ends[0]);
    // Simulates a killed session: its descriptor is closed without a release.
    ::close(held->descriptor());
    auto other = acquire({".idea"});
    ASSERT_TRUE(other);
    EXPECT_TRUE(exists(".vscode"));
    ::close(ends[1]);
    ::waitpid(keeper, nullptr, 0);
    EXPECT_FALSE(exists(".vscode"));
}

TEST_F(PlaceholdersTest, AForkedKeeperTakesAwayWhatOneThatWasKilledHeld) {
    auto held = acquire({".vscode", ".idea"});
    ASSERT_TRUE(held);
    auto other = acquire({".vscode", ".idea"});
    ASSERT_TRUE(other);
    int released[2], tried[2];
    ASSERT_EQ(::pipe(released), 0);
    ASSERT_EQ(::pipe(tried), 0);
    pid_t keeper = ::fork();
    if (keeper == 0) {
        ::close(other->descriptor());
        char byte;
        (void)!::read(released[0], &byte, 1);
        bool is_early = held->release_rest();
        (void)!::write(tried[1], "t", 1);
        (void)!::read(released[0], &byte, 1);
        bool is_done = held->release_rest();
        ::_exit((is_early ? 1 : 0) + (is_done ? 0 : 2));
    }
    held->release();
    char byte = 'r';
    ASSERT_EQ(::write(released[1], &byte, 1), 1);
    ASSERT_EQ(::read(tried[0], &byte, 1), 1);
    EXPECT_TRUE(exists(".vscode"));
    // The other session dies without a release.
    ::close(other->descriptor());
    ASSERT_EQ(::write(released[1], &byte, 1), 1);
    int status = -1;
    ::waitpid(keeper, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(exists(".vscode"));
    EXPECT_FALSE(exists(".idea"));
    EXPECT_EQ(recorded(), 0u);
}

TEST_F(PlaceholdersTest, AnErrorLeavesNothing) {
    directory_.write("p/file", "x");
    auto held = acquire({"a/b", "file"});
    ASSERT_FALSE(held);
    EXPECT_FALSE(exists("a"));
    EXPECT_TRUE(exists("file"));
}

TEST_F(PlaceholdersTest, NothingIsMadeOrRemovedThroughALink) {
    std::filesystem::create_directory(directory_ / "elsewhere");
    std::filesystem::create_directory_symlink("../elsewhere", project("link"));
    EXPECT_FALSE(acquire({"link/x"}));
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "elsewhere"));

    auto held = acquire({"d/x"});
    ASSERT_TRUE(held);
    std::filesystem::rename(project("d"), project("moved"));
    std::filesystem::create_directory(directory_ / "elsewhere/x");
    std::filesystem::create_directory_symlink("../elsewhere", project("d"));
    held->release();
    EXPECT_TRUE(std::filesystem::exists(directory_ / "elsewhere/x"));
}

TEST_F(PlaceholdersTest, NoneNeedNoRecord) {
    auto held = Placeholders::acquire("/proc/no/such", {});
    ASSERT_TRUE(held);
    EXPECT_TRUE(held->is_empty());
    EXPECT_FALSE(Placeholders::acquire("/proc/no/such", {Path::known(project("x"))}));
    EXPECT_FALSE(exists("x"));
}

}  // namespace
