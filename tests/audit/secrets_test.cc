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
        // An option in the position of a value is hidden, but still counts as an option.
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

// The secret is never shown, neither as a word nor within the text of a shell command.
TEST(Secrets, AreHiddenInEveryUsualForm) {
    const std::string secret = "hunter2xyz";
    for (const Words& command : std::initializer_list<Words>{
             {"git", "clone", "https://" + secret + "@github.com/x"},
             {"git", "clone", "https://" + secret + ":@github.com/x"},
             {"git", "clone", "git+ssh://" + secret + "@github.com/x"},
             {"curl", "https://h.example/b?sv=1&sig=" + secret},
             {"curl", "https://h.example/b?X-Amz-Signature=" + secret},
             {"curl", "https://h.example/token=" + secret + "/x"},
             {"tool", "sv=1&sig=" + secret},
             {"tool", "X-Amz-Credential=" + secret},
             {"tool", "accesskey=" + secret},
             {"tool", "sas=" + secret},
             {"tool", "a:password=" + secret},
             {"tool", "machine", "h", "login", "u", "password", secret},
             {"tool", "machine h login u password " + secret},
             {"redis", "set", "password", secret},
             {"redis", "set", "Password:", secret},
             {"redis", "set", "passwd", "=", secret},
             {"mysql", "-e", "CREATE USER u IDENTIFIED BY '" + secret + "'"},
             {"mysql", "-e", "create user u identified with p by '" + secret + "'"},
             {"tool", "IDENTIFIED", "BY", secret},
             {"tool", "SET", "PASSWORD", "FOR", "u", "=", secret},
             {"tool", "\"password\":", secret},
             {"tool", "PassWord=" + secret},
             {"aws", "configure", "set", "aws_secret_access_key", secret},
             {"npm", "config", "set", "//registry.example/:_authToken", secret},
             {"keytool", "--storepass", secret},
             {"keytool", "-storepass", secret},
             {"keytool", "-keypass", secret},
             {"plink", "-pw", secret},
             {"tool", "--auth=" + secret},
             {"tool", "--pw=" + secret},
             {"tool", "--passwd=" + secret},
             {"tool", "--credentials", secret},
             {"tool", "--password", "--", secret},
             {"tool", "Authorization:", "Bearer", secret},
             {"tool", "Authorization:", "Digest", secret},
             {"tool", "Proxy-Authorization:", "Basic", secret},
             {"tool", "Basic", secret},
             {"tool", "Basic " + secret},
             {"tool", "bearer", secret},
             {"python3", "-c", "get(u, auth=('u','" + secret + "'))"},
             {"tool", "auth=('u','" + secret + "')"},
             {"tool", "PASSWORD%3D" + secret},
             {"tool", "PASSWORD%253D" + secret},
             {"kubectl", "create", "secret", "generic", "x", "--from-literal=k=" + secret},
             {"kubectl", "create", "cm", "x", "--from-literal", "k=" + secret},
             {"tool", "-u", "u:" + secret},
             {"tool", "-uu:" + secret},
             {"tool", "--user", "u:" + secret},
             {"tool", "--user=u:" + secret},
             {"tool", "<password>" + secret + "</password>"},
         }) {
        std::string shown = base::join(audit::without_secrets(command), " ");
        EXPECT_EQ(shown.find(secret), std::string::npos) << shown;
        std::string text = base::join(command, " ");
        EXPECT_EQ(audit::without_secrets(Words{"sh", "-c", text}), (Words{"sh", "-c", "***"})) << text;
    }
}

TEST(Secrets, TheHostOfAnAddressIsStillShown) {
    EXPECT_EQ(audit::without_secrets(Words{"git", "clone", "https://abc@example.org/x.git"}),
              (Words{"git", "clone", "https://***@example.org/x.git"}));
}

TEST(Secrets, OrdinaryWordsStayAsTheyAre) {
    for (const Words& command :
         std::initializer_list<Words>{{"make", "-j4", "all"},
                                      {"git", "clone", "https://example.org/x.git"},
                                      {"ssh", "git@example.org"},
                                      {"scp", "git@example.org:x.git", "."},
                                      {"sh", "-c", "cd build && cmake -DCMAKE_BUILD_TYPE=Release .."},
                                      {"claude", "--continue", "-p", "fix the tests in src/a.cc, please"},
                                      {"python3", "-m", "pytest", "tests::test_x", "--maxfail=1"},
                                      {"git", "commit", "-m", "fix auth"},
                                      {"cargo", "test", "--author"},
                                      {"git", "log", "--author", "me"},
                                      {"ls", "-u"},
                                      {"tar", "-u", "file"},
                                      {"sort", "-u", "https://example.org/x"},
                                      {"date", "+%Y-%m-%dT%H:%M"},
                                      {"npm", "view", "https://registry.example/@scope/x"},
                                      {"npm", "install", "@scope/x@1.2"},
                                      {"make", "design=1", "compass=2", "--assign", "x"},
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
    for (const char* name : {"API_KEY", "--token", "X-Api-Key", "db.password", "--key", "GITHUB_TOKEN", "sig",
                             "X-Amz-Signature", "storepass", "--keypass", "auth", "pw", "pass1", "credential",
                             "credentials", "accessKey", "accesskey", "sas"}) {
        EXPECT_TRUE(audit::is_secret_name(name)) << name;
    }
    for (const char* name : {"PATH", "--verbose", "", "-", "--output", "keyboard", "--author", "design"}) {
        EXPECT_FALSE(audit::is_secret_name(name)) << name;
    }
}

}  // namespace
