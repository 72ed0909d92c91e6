// SPDX-License-Identifier: MIT
#include "session/control/session_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "session/directories.h"

namespace session {
namespace {

constexpr const char* kSession = "0123456789abcdef0123456789abcdef";

class SessionDirectoryTest : public testing::Test {
  protected:
    void SetUp() override {
        place_ = make_runtime_place({directory_.path() + "/run"});
        ASSERT_FALSE(place_.empty());
    }
    testing_support::TemporaryDirectory directory_;
    std::string place_;
};

TEST_F(SessionDirectoryTest, HoldsWhatOthersNeed) {
    SessionDirectory session;
    base::Json description = base::Json::object().set("backend", "native");
    ASSERT_TRUE(session.make(place_, kSession, description, "/the/record"));
    std::string path = session_directory_path(place_, kSession);
    EXPECT_EQ(session.path(), path);
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    base::Result<std::string> text = base::read_file(path + "/session.json");
    ASSERT_TRUE(text);
    base::Result<base::Json> metadata = base::Json::parse(*text);
    ASSERT_TRUE(metadata);
    EXPECT_EQ(metadata->number("pid"), ::getpid());
    EXPECT_EQ(static_cast<uint64_t>(metadata->number("start_ticks")), start_ticks_of(::getpid()));
    EXPECT_EQ(metadata->text("boot"), boot_id());
    EXPECT_EQ(metadata->text("backend"), "native");
    EXPECT_EQ(std::filesystem::read_symlink(path + "/log"), "/the/record");
    EXPECT_TRUE(std::filesystem::is_socket(path + "/control"));
}

TEST_F(SessionDirectoryTest, ChangesWhileTheSessionRuns) {
    SessionDirectory session;
    session.update("published", base::Json::array());
    ASSERT_TRUE(session.make(place_, kSession, base::Json::object().set("backend", "native"), ""));
    for (const char* ports : {"8080", "8080:80"}) {
        session.update("published", base::Json::array().push(ports));
        base::Result<std::string> text = base::read_file(session.path() + "/session.json");
        ASSERT_TRUE(text);
        base::Result<base::Json> metadata = base::Json::parse(*text);
        ASSERT_TRUE(metadata);
        EXPECT_EQ(metadata->text("backend"), "native");
        ASSERT_EQ(metadata->items("published").size(), 1u);
        EXPECT_EQ(*metadata->items("published")[0].as_text(), ports);
    }
    EXPECT_FALSE(std::filesystem::exists(session.path() + "/session.json.new"));
}

TEST_F(SessionDirectoryTest, IsLockedForAsLongAsItLives) {
    SessionDirectory session;
    ASSERT_TRUE(session.make(place_, kSession, base::Json::object(), ""));
    base::Fd lock(::open((session.path() + "/lock").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(lock);
    EXPECT_NE(::flock(lock.get(), LOCK_SH | LOCK_NB), 0);
    session.remove();
    EXPECT_EQ(::flock(lock.get(), LOCK_SH | LOCK_NB), 0);
}

TEST_F(SessionDirectoryTest, LeavesNothingBehind) {
    {
        SessionDirectory session;
        ASSERT_TRUE(session.make(place_, kSession, base::Json::object(), "/the/record"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(place_ + "/sessions"));
}

TEST_F(SessionDirectoryTest, TakesNoDirectoryThatIsThere) {
    std::string path = session_directory_path(place_, kSession);
    std::filesystem::create_directory(path);
    SessionDirectory session;
    EXPECT_FALSE(session.make(place_, kSession, base::Json::object(), ""));
    session.remove();
    EXPECT_TRUE(std::filesystem::exists(path)) << "somebody else's";
}

TEST(RuntimeDirectory, IsNeverALinkNorOpenToOthers) {
    testing_support::TemporaryDirectory directory;
    std::string real = directory.path() + "/real", link = directory.path() + "/link";
    std::filesystem::create_directory(real);
    std::filesystem::create_symlink(real, link);
    EXPECT_EQ(make_runtime_place({link}), "");
    EXPECT_TRUE(std::filesystem::is_empty(real)) << "something was made behind the link";
    std::string open = directory.path() + "/open";
    std::filesystem::create_directory(open);
    std::filesystem::permissions(open, std::filesystem::perms::all);
    EXPECT_EQ(make_runtime_place({open}), "");
    EXPECT_EQ(make_runtime_place({open, directory.path() + "/last"}), directory.path() + "/last");
}

TEST(RuntimeDirectory, TellsOfOneThatIsTaken) {
    testing_support::TemporaryDirectory directory;
    std::string last = directory.path() + "/last", taken;
    for (mode_t mode : {0755, 0770, 0777}) {
        std::string open = directory.path() + "/open";
        std::filesystem::create_directory(open);
        ASSERT_EQ(::chmod(open.c_str(), mode), 0);
        taken.clear();
        EXPECT_EQ(make_runtime_place({open, last}, &taken), last);
        EXPECT_EQ(taken, open);
        std::filesystem::remove(open);
    }
    taken.clear();
    EXPECT_EQ(make_runtime_place({last}, &taken), last);
    EXPECT_EQ(taken, "");
}

TEST(RuntimeDirectory, IsMadeOnlyWhereItsParentIsOurs) {
    testing_support::TemporaryDirectory directory;
    std::string missing = directory.path() + "/missing";
    std::string last = directory.path() + "/state/run";
    EXPECT_EQ(make_runtime_place({missing + "/agent-sandbox", last}), last);
    EXPECT_FALSE(std::filesystem::exists(missing)) << "a runtime directory is not ours to make";
    EXPECT_EQ(make_runtime_place({"/tmp/agent-sandbox", last}), last) << "its parent is everybody's";
}

TEST(RuntimeDirectory, PrefersTheUsersRuntimeDirectory) {
    std::vector<std::string> places = runtime_places("/run/user/7/", "/state");
    ASSERT_GE(places.size(), 3U);
    EXPECT_EQ(places.front(), "/run/user/7/agent-sandbox");
    EXPECT_EQ(places.back(), "/state/run");
    EXPECT_EQ(runtime_places("relative", "/state").front(),
              "/run/user/" + std::to_string(::geteuid()) + "/agent-sandbox");
}

TEST(StartTicks, NameAProcess) {
    EXPECT_GT(start_ticks_of(::getpid()), 0U);
    EXPECT_EQ(start_ticks_of(0x7ffffffe), 0U);
}

}  // namespace
}  // namespace session
