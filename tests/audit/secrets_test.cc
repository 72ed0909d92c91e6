// SPDX-License-Identifier: MIT
#include "audit/secrets.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace {

using Words = std::vector<std::string>;

struct HiddenCase {
    Words command;
    Words shown;
};

class Hidden : public testing::TestWithParam<HiddenCase> {};

TEST_P(Hidden, IsNotShown) {
    EXPECT_EQ(audit::without_secrets(GetParam().command), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Words, Hidden,
    testing::Values(
        HiddenCase{{"tool", "--token=abc"}, {"tool", "--token=***"}},
        HiddenCase{{"tool", "--password", "abc", "x"}, {"tool", "--password", "***", "x"}},
        HiddenCase{{"tool", "--api-key", "abc"}, {"tool", "--api-key", "***"}},
        HiddenCase{{"tool", "--apiKey=abc"}, {"tool", "--apiKey=***"}},
        HiddenCase{{"tool", "--accessToken", "abc"}, {"tool", "--accessToken", "***"}},
        HiddenCase{{"java", "-Ddb.password=abc"}, {"java", "-Ddb.password=***"}},
        // An option in the place of a value is hidden, and is an option nevertheless.
        HiddenCase{{"tool", "--password-stdin", "--token", "abc"},
                   {"tool", "--password-stdin", "***", "***"}},
        HiddenCase{{"env", "API_KEY=abc", "make"}, {"env", "API_KEY=***", "make"}},
        HiddenCase{{"env", "AWS_PROFILE=abc"}, {"env", "AWS_PROFILE=***"}},
        HiddenCase{{"docker", "run", "--env=DB_PASSWORD=abc"}, {"docker", "run", "--env=DB_PASSWORD=***"}},
        HiddenCase{{"/usr/bin/curl", "-u", "me:abc", "https://example.org"},
                   {"/usr/bin/curl", "-u", "***", "https://example.org"}},
        HiddenCase{{"curl", "-ume:abc"}, {"curl", "-u***"}},
        HiddenCase{{"curl", "--user", "me:abc"}, {"curl", "--user", "***"}},
        HiddenCase{{"timeout", "5", "sshpass", "-p", "abc", "ssh", "x"},
                   {"timeout", "5", "sshpass", "-p", "***", "ssh", "x"}},
        HiddenCase{{"curl", "--header", "Authorization: Bearer abc"}, {"curl", "--header", "***"}},
        HiddenCase{{"curl", "-H", "X-Api-Key: abc"}, {"curl", "-H", "***"}},
        HiddenCase{{"curl", "-d", R"({"password": "abc"})"}, {"curl", "-d", "***"}},
        HiddenCase{{"curl", "https://example.org/?access_token=abc"}, {"curl", "***"}},
        HiddenCase{{"git", "clone", "https://me:abc@example.org/x.git"},
                   {"git", "clone", "https://***@example.org/x.git"}},
        HiddenCase{{"git", "-c", "url=https://me:abc@example.org/"},
                   {"git", "-c", "url=https://***@example.org/"}},
        HiddenCase{{"rsync", "me:abc@example.org"}, {"rsync", "***@example.org"}},
        HiddenCase{{"gh", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, {"gh", "***"}},
        HiddenCase{{"sh", "-c", "export API_KEY=abc; make"}, {"sh", "-c", "***"}},
        HiddenCase{{"sh", "-c", "curl -u me:abc https://example.org"}, {"sh", "-c", "***"}},
        HiddenCase{{"sh", "-c", "mysql --password abc"}, {"sh", "-c", "***"}},
        HiddenCase{{"sh", "-c", "git clone https://me:abc@example.org/x && make"}, {"sh", "-c", "***"}},
        HiddenCase{{"sh", "-c", "echo ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, {"sh", "-c", "***"}}));

TEST(Secrets, OrdinaryWordsStayAsTheyAre) {
    for (const Words& command :
         std::initializer_list<Words>{{"make", "-j4", "all"},
                                      {"git", "clone", "https://example.org/x.git"},
                                      {"ssh", "git@example.org"},
                                      {"scp", "git@example.org:x.git", "."},
                                      {"sh", "-c", "cd build && cmake -DCMAKE_BUILD_TYPE=Release .."},
                                      {"claude", "--continue", "-p", "fix the tests in src/a.cc, please"},
                                      {"python3", "-m", "pytest", "tests::test_x", "--maxfail=1"},
                                      {"curl", "https://example.org:8443/a?b=c"}}) {
        EXPECT_EQ(audit::without_secrets(command), command) << base::join(command, " ");
    }
}

TEST(Secrets, ALongWordIsCutBeforeItIsLookedAt) {
    Words shown = audit::without_secrets(Words{"sh", "-c", std::string(1 << 20, 'x')});
    EXPECT_EQ(shown[2].size(), 4096U);
    EXPECT_TRUE(audit::without_secrets(Words{}).empty());
}

TEST(Secrets, NamesOfSecrets) {
    for (const char* name : {"API_KEY", "--token", "X-Api-Key", "db.password", "--key", "GITHUB_TOKEN"}) {
        EXPECT_TRUE(audit::is_secret_name(name)) << name;
    }
    for (const char* name : {"PATH", "--verbose", "", "-", "--output", "keyboard"}) {
        EXPECT_FALSE(audit::is_secret_name(name)) << name;
    }
}

}  // namespace
