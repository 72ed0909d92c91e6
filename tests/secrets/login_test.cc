// SPDX-License-Identifier: MIT
#include "secrets/login.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <utime.h>

#include <thread>

#include "secrets/places.h"
#include "secrets/source.h"

namespace secrets {
namespace {

using credentials::Credential;

class LoginTest : public test::Places {
  protected:
    LoginTest() {
        login_ = {
            .name = "my-login",
            .files = {"~/agent/login.json"},
            .fields = {*credentials::parse_file_field("token")},
            .source = {.kind = credentials::Source::Kind::file, .words = {}, .text = "~/agent/login.json"}};
        login_.stores.push_back(*credentials::parse_stored_field("ends = milliseconds"));
    }
    base::Status store(std::string token, LoginAct act = LoginAct::renew) {
        StoredToken tokens[] = {{&login_, *base::SecretValue::make(std::move(token))}};
        return store_login(tokens, act, {.expires_in = 2, .scope = "", .now = 1000}, surroundings_);
    }
    std::string content(const std::string& name = "agent/login.json") const {
        base::Result<std::string> text = base::read_file(root_ + "/" + name);
        return text ? *text : "nothing";
    }

    Credential login_;
};

TEST_F(LoginTest, TheValueIsAFieldOfTheUsersFile) {
    file("agent/login.json", R"({"token": "the-token", "other": "x"})");
    base::Result<Fetched> fetched = fetch(login_, surroundings_);
    ASSERT_TRUE(fetched.ok()) << fetched.error().line();
    EXPECT_TRUE(fetched->value.equals("the-token"));
    file("agent/login.json", R"({"other": "x"})");
    EXPECT_NE(fetch(login_, surroundings_).error().line().find("has no log-in"), std::string::npos);
}

TEST_F(LoginTest, NewTokensReplaceTheFileInOneStepWithItsMode) {
    const std::string path = file("agent/login.json", R"({"token": "old-token", "other": 1.5})", 0640);
    struct stat before, after;
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    ASSERT_TRUE(store("new-token").ok());
    EXPECT_EQ(content(), R"({"ends": 3000, "token": "new-token", "other": 1.5})");
    ASSERT_EQ(::stat(path.c_str(), &after), 0);
    EXPECT_EQ(after.st_mode & 07777, 0640u);
    EXPECT_NE(after.st_ino, before.st_ino) << "a reader has the old file or the new one";
    std::filesystem::remove(path);
    ASSERT_TRUE(store("new-token").ok());
    EXPECT_EQ(content(), R"({"ends": 3000, "token": "new-token"})");
}

TEST_F(LoginTest, AFirstLoginReplacesNone) {
    const std::string before = R"({"token": "users-token", "other": 1.5})";
    file("agent/login.json", before);
    base::Status stored = store("agents-token", LoginAct::first);
    ASSERT_FALSE(stored.ok());
    EXPECT_NE(stored.error().line().find("has a log-in already"), std::string::npos);
    EXPECT_EQ(content(), before);
    for (const char* none : {R"({"token": ""})", R"({"other": 1.5})"}) {
        file("agent/login.json", none);
        EXPECT_TRUE(store("first-token", LoginAct::first).ok()) << none;
        EXPECT_NE(content().find("first-token"), std::string::npos);
    }
}

TEST_F(LoginTest, AFileThatTheJailCanWriteOrALinkIsNotReplaced) {
    file("agent/login.json", R"({"token": "old-token"})");
    make_writable("agent");
    EXPECT_FALSE(store("new-token").ok());
    EXPECT_EQ(content(), R"({"token": "old-token"})");
    surroundings_.writable.clear();
    std::filesystem::remove(root_ + "/agent/login.json");
    std::filesystem::create_symlink(file("elsewhere", "{}"), root_ + "/agent/login.json");
    EXPECT_FALSE(store("new-token").ok());
    EXPECT_EQ(content("elsewhere"), "{}");
}

TEST_F(LoginTest, ALockWaitsForItsEndAndNoLongerThanItCounts) {
    file("agent/login.json", "{}");
    const std::string lock = root_ + "/agent/login.json.lock";
    ASSERT_TRUE(lock_login(login_, surroundings_).ok());
    EXPECT_TRUE(std::filesystem::is_directory(lock));
    bool is_over = false;
    std::thread other([&] {
        EXPECT_TRUE(lock_login(login_, surroundings_).ok());
        EXPECT_TRUE(is_over) << "it waits for the first lock";
    });
    is_over = true;
    unlock_login(login_, surroundings_);
    other.join();
    // The process that made it has ended.
    struct utimbuf old = {1000, 1000};
    ASSERT_EQ(::utime(lock.c_str(), &old), 0);
    EXPECT_TRUE(lock_login(login_, surroundings_).ok());
    unlock_login(login_, surroundings_);
    login_.locks_directory = true;
    ASSERT_TRUE(lock_login(login_, surroundings_).ok());
    EXPECT_TRUE(std::filesystem::is_directory(root_ + "/agent.lock"));
}

TEST_F(LoginTest, TokensComeByNumber) {
    const std::string path = file("tokens", "1 the-second-token\n0 the-first-token\n7 unknown-token\nx\n");
    base::Fd open(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Credential all[] = {login_, login_};
    base::Result<std::vector<StoredToken>> tokens = read_tokens(open.get(), all);
    ASSERT_TRUE(tokens.ok());
    ASSERT_EQ(tokens->size(), 2u);
    EXPECT_TRUE((*tokens)[0].value.equals("the-second-token"));
    EXPECT_EQ((*tokens)[1].credential, &all[0]);
}

}  // namespace
}  // namespace secrets
