// SPDX-License-Identifier: MIT
#include "secrets/store.h"

#include <fcntl.h>

#include "fuzz/over_corpus.h"
#include "secrets/answer.h"
#include "secrets/places.h"
#include "secrets/properties.h"

namespace secrets {
namespace {

class StoreTest : public test::Places {
  protected:
    const std::string& store() const { return surroundings_.store; }
    std::string path() const { return store() + "/github"; }
    void write(std::string value) {
        base::Result<base::SecretValue> made = base::SecretValue::make(std::move(value));
        ASSERT_TRUE(made.ok());
        base::Status written = write_stored(store(), "github", *made);
        ASSERT_TRUE(written.ok()) << written.error().line();
    }
};

TEST_F(StoreTest, KeepsAValueForTheUserAlone) {
    ::umask(0);
    EXPECT_FALSE(is_stored(store(), "github"));
    write("first-value");
    ::umask(022);
    EXPECT_TRUE(is_stored(store(), "github"));
    EXPECT_TRUE(read_stored(store(), "github")->equals("first-value"));
    struct stat file, directory;
    ASSERT_EQ(::stat(path().c_str(), &file), 0);
    ASSERT_EQ(::stat(store().c_str(), &directory), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    EXPECT_EQ(directory.st_mode & 0777, 0700u);
    write("second-value");
    EXPECT_TRUE(read_stored(store(), "github")->equals("second-value"));
}

TEST_F(StoreTest, OverwritesWhatItReplacesOrRemoves) {
    write("first-value");
    base::Fd first(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    write("second-value");
    EXPECT_EQ(*base::read_descriptor(first.get()), std::string(11, '\0'));
    base::Fd second(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(*remove_stored(store(), "github"));
    EXPECT_EQ(*base::read_descriptor(second.get()), std::string(12, '\0'));
    EXPECT_FALSE(is_stored(store(), "github"));
    EXPECT_FALSE(*remove_stored(store(), "github"));
}

TEST_F(StoreTest, DoesNotUseWhatOthersCanReach) {
    write("first-value");
    ::chmod(path().c_str(), 0640);
    EXPECT_FALSE(read_stored(store(), "github").ok());
    ::chmod(path().c_str(), 0600);
    ::chmod(store().c_str(), 0750);
    EXPECT_FALSE(read_stored(store(), "github").ok());
    EXPECT_FALSE(write_stored(store(), "github", *base::SecretValue::make("other-value")).ok());
    ::chmod(store().c_str(), 0700);
    std::filesystem::rename(path(), root_ + "/elsewhere");
    std::filesystem::create_symlink(root_ + "/elsewhere", path());
    EXPECT_FALSE(read_stored(store(), "github").ok()) << "a link";
}

TEST(Answer, ReadsAValueOrJson) {
    auto value = [](std::string text, std::string_view expected) {
        base::Result<Fetched> fetched = read_answer(std::move(text));
        return fetched.ok() && fetched->value.equals(expected);
    };
    EXPECT_TRUE(value("plain-value\n", "plain-value"));
    EXPECT_TRUE(value(" { \"token\" : \"in-an-object\" }\n", "in-an-object"));
    EXPECT_TRUE(value("{\"a\":[1,{\"b\":\"]}\"}],\"token\":\"after-a-list\",\"c\":null}", "after-a-list"));
    for (const char* bad :
         {"{", "{}", "{\"token\":1}", "{\"token\":\"with\\u0041-escape\"}", "{\"token\":\"12345678\"} x",
          "{\"token\":\"12345678\",\"expires_at\":\"soon\"}", "{\"token\":\"short\"}", "{\"a\":[}",
          "{\"token\":\"12345678", "{\"token\" \"12345678\"}", "short"})
        EXPECT_FALSE(read_answer(bad).ok()) << bad;
    EXPECT_FALSE(read_answer("{\"a\":" + std::string(1000, '[')).ok());
    base::Result<Fetched> ends = read_answer("{\"expires_at\": 1794983400, \"token\": \"0123456789\"}");
    ASSERT_TRUE(ends.ok());
    EXPECT_EQ(ends->expires_at, 1794983400);
}

// As gcloud and az print them.
TEST(Answer, ReadsTheTokensOfClouds) {
    auto ends = [](std::string text, std::string_view expected) -> int64_t {
        base::Result<Fetched> fetched = read_answer(std::move(text));
        EXPECT_TRUE(fetched.ok() && fetched->value.equals(expected));
        return fetched.ok() ? fetched->expires_at : -1;
    };
    EXPECT_EQ(ends(R"({"configuration": {"active_configuration": "default", "properties": {"core": {}}},
                      "credential": {"access_token": "ya29.example", "id_token": "e30.e30.x",
                                     "token_expiry": "2026-11-18T06:30:00Z"}})",
                   "ya29.example"),
              1794983400);
    EXPECT_EQ(ends(R"({"accessToken": "eyJ0eXAi.example", "expiresOn": "2026-11-18 06:30:00.000000",
                      "expires_on": 1794983400, "tokenType": "Bearer"})",
                   "eyJ0eXAi.example"),
              1794983400);
    // The local time of an older az is not used.
    EXPECT_EQ(ends(R"({"accessToken": "eyJ0eXAi.example", "expiresOn": "2026-11-18 06:30:00.000000"})",
                   "eyJ0eXAi.example"),
              0);
    EXPECT_FALSE(read_answer(R"({"credential": {"id_token": "e30.e30.x"}})").ok());
    EXPECT_FALSE(
        read_answer(R"({"credential": {"access_token": "ya29.example", "token_expiry": "x"}})").ok());
}

TEST(Answer, ReadsKeysOfAws) {
    auto value = [](std::string text, std::string_view expected, int64_t end = 0) {
        base::Result<Fetched> fetched = read_answer(std::move(text), AnswerKind::aws_key);
        return fetched.ok() && fetched->value.equals(expected) && fetched->expires_at == end;
    };
    EXPECT_TRUE(value(R"({"Version": 1, "AccessKeyId": "AKIAEXAMPLE", "SecretAccessKey": "s/e+cret"})",
                      "AKIAEXAMPLE s/e+cret"));
    EXPECT_TRUE(value(R"({"Version": 1, "AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "secret",
                         "SessionToken": "token==", "Expiration": "2026-11-18T06:30:00+00:00"})",
                      "ASIAEXAMPLE secret token==", 1794983400));
    EXPECT_TRUE(value("AKIAEXAMPLE secret\n", "AKIAEXAMPLE secret"));
    EXPECT_TRUE(value("AKIAEXAMPLE\nsecret\ttoken", "AKIAEXAMPLE secret token"));
    EXPECT_TRUE(
        value("# mine\n[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = other\n\n"
              "[default]\naws_access_key_id=AKIAEXAMPLE\naws_secret_access_key = secret\n",
              "AKIAEXAMPLE secret"));
    for (const char* bad :
         {"AKIAEXAMPLE", "a b c d", "{", R"({"AccessKeyId": "AKIAEXAMPLE"})", R"({"token": "0123456789"})",
          R"({"AccessKeyId": "AKIA", "SecretAccessKey": "with\\u0041"})",
          R"({"AccessKeyId": "AKIA", "SecretAccessKey": "with blank"})",
          "[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = other\n", ""})
        EXPECT_FALSE(read_answer(bad, AnswerKind::aws_key).ok()) << bad;
}

TEST(Answer, HoldsItsPropertiesForEverySeed) {
    fuzz::expect_unbroken("secrets/corpus/answer", broken_for_answer);
}

TEST(Answer, ReadsTimes) {
    EXPECT_EQ(parse_time("1970-01-02T00:00:00Z"), 86400);
    EXPECT_EQ(parse_time("2026-11-18T06:30:00.123456Z"), 1794983400);
    EXPECT_EQ(parse_time("2026-11-18T07:30:00+01:00"), 1794983400);
    EXPECT_EQ(parse_time("2026-11-18 05:00:00-01:30"), 1794983400);
    EXPECT_EQ(parse_time("42"), 42);
    for (const char* bad :
         {"", "0", "-5", "tomorrow", "2026-11-18", "2026-11-18T06:30:00", "2026-13-18T06:30:00Z",
          "2026-11-18T06:30:00+1", "2026-11-18T06:30:00 UTC", "1970-01-01T00:00:00+01:00"})
        EXPECT_EQ(parse_time(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace secrets
