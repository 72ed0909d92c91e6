// SPDX-License-Identifier: MIT
#include "host/known_names.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "host/tree.h"

namespace host {
namespace {

using base::Path;

constexpr time_t kNow = 1'000'000;
const Path kBin = Path::known("/usr/bin");

class KnownNamesTest : public testing::Test {
  protected:
    void SetUp() override {
        KnownNames names = KnownNames::recall(file_, kNow);
        names.learn(kBin, "1:2:3.0:3.0", "mutt", std::nullopt);
        names.learn(kBin, "1:2:3.0:3.0", "bash", Glance{Kind::file, ""});
        names.learn(kBin, "1:2:3.0:3.0", "sh with blanks", Glance{Kind::symlink, "/bin/da sh"});
        names.keep(file_);
    }
    bool knows_any(time_t now = kNow) const { return KnownNames::recall(file_, now).has(kBin); }
    std::string text() const { return *base::read_file(file_); }
    void rewrite(const std::string& text) const { ASSERT_TRUE(base::write_file_atomically(file_, text)); }

    testing_support::TemporaryDirectory directory_;
    std::string file_ = directory_ / "state/known-names";
};

TEST_F(KnownNamesTest, AreKeptForTheNextLaunch) {
    KnownNames names = KnownNames::recall(file_, kNow + 5);
    const KnownNames::Answer* absent = names.find(kBin, "1:2:3.0:3.0", "mutt");
    ASSERT_TRUE(absent);
    EXPECT_FALSE(*absent);
    EXPECT_EQ(names.find(kBin, "1:2:3.0:3.0", "bash")->value(), (Glance{Kind::file, ""}));
    EXPECT_EQ(names.find(kBin, "1:2:3.0:3.0", "sh with blanks")->value(),
              (Glance{Kind::symlink, "/bin/da sh"}));
    EXPECT_FALSE(names.find(kBin, "1:2:3.0:3.0", "mail")) << "nobody asked for it";
    EXPECT_FALSE(names.has(Path::known("/usr")));
    struct stat status;
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(KnownNamesTest, ADirectoryThatChangedIsAnotherOne) {
    EXPECT_FALSE(KnownNames::recall(file_, kNow).find(kBin, "1:2:3.1:3.1", "mutt"));
    struct stat status;
    ASSERT_EQ(::stat(directory_.path().c_str(), &status), 0);
    std::string before = identity_of(status);
    status.st_mtim.tv_nsec ^= 1;
    EXPECT_NE(identity_of(status), before);
    status.st_mtim.tv_nsec ^= 1;
    status.st_ino ^= 1;
    EXPECT_NE(identity_of(status), before);
}

TEST_F(KnownNamesTest, AreBelievedForAnHour) {
    EXPECT_TRUE(knows_any(kNow + kLongestBelief));
    EXPECT_FALSE(knows_any(kNow + kLongestBelief + 1));
    EXPECT_FALSE(knows_any(kNow - 1)) << "the clock was set back";
}

TEST_F(KnownNamesTest, WhatIsLearnedLaterDoesNotMakeTheRestYounger) {
    KnownNames names = KnownNames::recall(file_, kNow + 3000);
    names.learn(kBin, "1:2:3.0:3.0", "mail", std::nullopt);
    names.keep(file_);
    EXPECT_FALSE(knows_any(kNow + kLongestBelief + 1));
}

TEST_F(KnownNamesTest, AFileThatCannotBeBelievedDoesNotCount) {
    const std::string sound = text();
    const std::string body = sound.substr(0, sound.size() - 4);
    const std::string forgeries[] = {
        body,
        sound.substr(0, sound.size() - 1),
        "another version" + sound.substr(sound.find('\n')),
        sound.substr(0, sound.find('\n')) + "\n4294967294:1\n" + sound.substr(sound.find('@')),
        body + "?what\nend\n",
        body + "@x 1:2:3.0:3.0 /usr\nend\n",
        body + "@1 /usr\nend\n",
        body + "-\nend\n",
        ""};
    for (const std::string& forgery : forgeries) {
        rewrite(forgery);
        EXPECT_FALSE(knows_any()) << forgery;
    }
    rewrite(sound);
    EXPECT_TRUE(knows_any());
}

TEST_F(KnownNamesTest, AFileOfAnotherUserDoesNotCount) {
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
        EXPECT_FALSE(knows_any());
    } else {
        // Without root the test can't make a file of another user. Another user's file could only be reached
        // by a symbolic link, which is not followed.
        const std::string elsewhere = directory_ / "elsewhere";
        ASSERT_EQ(::rename(file_.c_str(), elsewhere.c_str()), 0);
        ASSERT_EQ(::symlink(elsewhere.c_str(), file_.c_str()), 0);
        EXPECT_FALSE(knows_any());
    }
}

TEST_F(KnownNamesTest, NothingIsWrittenWithoutNews) {
    struct stat before, after;
    ASSERT_EQ(::stat(file_.c_str(), &before), 0);
    KnownNames names = KnownNames::recall(file_, kNow);
    names.learn(kBin, "1:2:3.0:3.0", "mutt", std::nullopt);
    names.learn(Path::known("/a\nb"), "1:2:3.0:3.0", "x", std::nullopt);
    names.keep(file_);
    ASSERT_EQ(::stat(file_.c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
}

// The disk's tree decides which directories count. The child is an ordinary user, because root may write to
// every directory.
template <typename Act>
bool holds_for_a_user(const testing_support::TemporaryDirectory& directory, const Act& act) {
    ::chmod(directory.path().c_str(), 0777);
    ::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
        ::_exit(act() ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string kept_after_looking(const std::string& file, std::initializer_list<Path> paths) {
    DiskTree tree;
    tree.recall_names(file);
    for (const Path& path : paths) tree.look(path);
    tree.keep_names();
    base::Result<std::string> kept = base::read_file(file);
    return kept ? *std::move(kept) : std::string();
}

TEST(KnownNamesOfTheDisk, AreThoseOfDirectoriesThatRootAloneChanges) {
    testing_support::TemporaryDirectory directory;
    const std::string file = directory / "names";
    const Path absent = Path::known("/usr/agent-sandbox-has-no-such-name");
    const Path own = Path::known(directory / "no-such-name");
    EXPECT_TRUE(holds_for_a_user(directory, [&] {
        std::string kept = kept_after_looking(file, {absent, own});
        return kept.find("-agent-sandbox-has-no-such-name\n") != std::string::npos &&
               kept.find("no-such-name\n-") == std::string::npos && kept.find("\n-no-such-name") == kept.npos;
    }));
    // The next tree trusts the file: glance() returns the changed entry without looking at the disk.
    EXPECT_TRUE(holds_for_a_user(directory, [&] {
        std::string kept = *base::read_file(file);
        size_t at = kept.find("-agent-sandbox-has");
        kept.replace(at, 1, "f");
        if (!base::write_file_atomically(file, kept)) return false;
        DiskTree tree;
        tree.recall_names(file);
        return tree.glance(absent) == Glance{Kind::file, ""} && !tree.look(absent) && !tree.glance(own);
    }));
}

TEST(KnownNamesOfTheDisk, AreNotKeptForRoot) {
    if (::geteuid() != 0) return;
    testing_support::TemporaryDirectory directory;
    EXPECT_EQ(kept_after_looking(directory / "names", {Path::known("/usr/no-such-name")}), "");
}

TEST(KnownNamesOfTheDisk, AKernelsDirectoryIsNotRemembered) {
    testing_support::TemporaryDirectory directory;
    const std::string file = directory / "names";
    EXPECT_TRUE(holds_for_a_user(directory, [&] {
        return kept_after_looking(file, {Path::known("/proc/no-such-name")}).find("no-such") ==
               std::string::npos;
    }));
}

}  // namespace
}  // namespace host
