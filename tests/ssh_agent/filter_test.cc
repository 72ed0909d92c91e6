// SPDX-License-Identifier: MIT
#include "ssh_agent/filter.h"

#include <gtest/gtest.h>

#include "ssh_agent/messages.h"

namespace ssh_agent {
namespace {

using Action = Decision::Action;

const std::string kUserKey = bytes_of(kVectors[1].key);
const std::string kHostKey = bytes_of(kVectors[0].key), kHostSignature = bytes_of(kVectors[0].signature);
const std::string kOtherHost = bytes_of(kVectors[2].key), kOtherSignature = bytes_of(kVectors[2].signature);
const std::string kRsaKey = bytes_of(kVectors[4].key);

Rules usual_rules() {
    Rules rules;
    rules.agent = "/agent";
    rules.keys = {{kUserKey, "SHA256:user"}, {kRsaKey, "SHA256:rsa"}};
    rules.hosts = {{.user = "git", .name = "git.example", .keys = {kHostKey}}};
    return rules;
}

Login usual_login() {
    return {.algorithm = "ecdsa-sha2-nistp256", .key = kUserKey, .host_key = kHostKey};
}

class FilterTest : public testing::Test {
  protected:
    Decision bind() { return filter.judge(bind_message(kHostKey, session_of_vectors(), kHostSignature)); }
    Decision sign(const Login& login, uint32_t flags = 0) {
        return filter.judge(sign_message(login.key, login_data(login), flags));
    }
    void expect_refused(const Decision& decision) {
        EXPECT_EQ(decision.action, Action::answer) << decision.reason;
        EXPECT_EQ(decision.message, failure());
    }

    Rules rules = usual_rules();
    Filter filter{rules};
};

// The control of every refusal below.
TEST_F(FilterTest, ALoginAtTheNamedHostIsSigned) {
    EXPECT_EQ(bind().action, Action::forward);
    Decision decision = sign(usual_login());
    EXPECT_EQ(decision.action, Action::forward) << decision.reason;
    EXPECT_EQ(decision.expected, Expected::signature);
    EXPECT_EQ(decision.use.target, "git@git.example");
    EXPECT_EQ(decision.use.key, "SHA256:user");
    Login plain = usual_login();
    plain.host_key.clear();
    EXPECT_EQ(sign(plain).action, Action::forward);
}

TEST_F(FilterTest, ALoginWithoutABindIsRefused) {
    Decision decision = sign(usual_login());
    expect_refused(decision);
    EXPECT_EQ(decision.change, "ssh.unbound = \"ask\"");
}

TEST_F(FilterTest, AnUnboundLoginIsAskedEachTimeIfTheRulesSaySo) {
    rules.unbound = Unbound::ask;
    Decision decision = sign(usual_login());
    EXPECT_EQ(decision.action, Action::ask);
    EXPECT_TRUE(decision.use.is_each_asked);
    EXPECT_EQ(decision.use.target, "git at a host that is not known");
    Login other = usual_login();
    other.user = "root";
    expect_refused(sign(other));
}

TEST_F(FilterTest, AnotherHostKeyIsRefusedAndItsLoginToo) {
    Decision decision = filter.judge(bind_message(kOtherHost, session_of_vectors(), kOtherSignature));
    expect_refused(decision);
    EXPECT_NE(decision.reason.find("ssh.hosts"), std::string::npos);
    Login login = usual_login();
    login.host_key = kOtherHost;
    expect_refused(sign(login));
    // Nor is it an unbound login, or one of the named host after a second bind.
    rules.unbound = Unbound::ask;
    expect_refused(sign(usual_login()));
    expect_refused(bind());
    expect_refused(sign(usual_login()));
}

TEST_F(FilterTest, AForgedBindIsRefused) {
    expect_refused(filter.judge(bind_message(kHostKey, session_of_vectors(), kOtherSignature)));
    Filter second(rules);
    std::string other = session_of_vectors();
    other[0] = 'x';
    expect_refused(second.judge(bind_message(kHostKey, other, kHostSignature)));
    Login login = usual_login();
    login.session = other;
    expect_refused(second.judge(sign_message(login.key, login_data(login))));
    Filter third(rules);
    expect_refused(third.judge(bind_message(kHostKey, session_of_vectors(), kHostSignature) + "x"));
    expect_refused(third.judge(sign_message(kUserKey, login_data(usual_login()))));
}

TEST_F(FilterTest, AnotherSessionUserKeyServiceOrHostKeyIsRefused) {
    bind();
    for (auto change :
         {+[](Login& login) { login.session[0] = 'x'; }, +[](Login& login) { login.user = "root"; },
          +[](Login& login) { login.key = kHostKey; }, +[](Login& login) { login.service = "ssh-other"; },
          +[](Login& login) { login.host_key = kOtherHost; },
          +[](Login& login) { login.algorithm = "ssh-ed25519"; }}) {
        Login login = usual_login();
        change(login);
        expect_refused(sign(login));
    }
    // The key of the request and the key in the data differ.
    std::string second = kUserKey;
    second.back() = static_cast<char>(second.back() ^ 1);
    rules.keys.push_back({second, "SHA256:second"});
    expect_refused(filter.judge(sign_message(second, login_data(usual_login()))));
    EXPECT_EQ(sign(usual_login()).action, Action::forward);
}

TEST_F(FilterTest, RsaNeedsSha2WithItsFlag) {
    bind();
    Login login{.algorithm = "rsa-sha2-512", .key = kRsaKey, .host_key = {}};
    EXPECT_EQ(sign(login, 4).action, Action::forward);
    expect_refused(sign(login, 0));
    expect_refused(sign(login, 2));
    login.algorithm = "rsa-sha2-256";
    EXPECT_EQ(sign(login, 2).action, Action::forward);
    login.algorithm = "ssh-rsa";
    expect_refused(sign(login, 0));
}

TEST_F(FilterTest, BytesAfterTheDataOrBeforeItAreRefused) {
    bind();
    const std::string data = login_data(usual_login());
    expect_refused(filter.judge(sign_message(kUserKey, data + "x")));
    expect_refused(filter.judge(sign_message(kUserKey, "x" + data)));
    expect_refused(filter.judge(sign_message(kUserKey, data) + "x"));
    for (size_t size = 0; size < data.size(); ++size)
        expect_refused(filter.judge(sign_message(kUserKey, data.substr(0, size))));
    expect_refused(filter.judge(sign_message(kUserKey, "")));
    expect_refused(filter.judge(sign_message(kUserKey, session_of_vectors())));
}

TEST_F(FilterTest, ASecondSessionOnOneConnectionIsRefusedAndEndsTheFirst) {
    bind();
    EXPECT_EQ(bind().action, Action::forward);
    expect_refused(filter.judge(bind_message(kHostKey, "other session", kHostSignature)));
    expect_refused(sign(usual_login()));
}

TEST_F(FilterTest, ForwardingEndsTheConnection) {
    Decision decision = filter.judge(bind_message(kHostKey, session_of_vectors(), kHostSignature, true));
    EXPECT_EQ(decision.action, Action::close);
    EXPECT_EQ(decision.message, failure());
}

TEST_F(FilterTest, FilesAreSignedInNamedNamespacesAlone) {
    const std::string request = sign_message(kUserKey, file_data("git"));
    expect_refused(filter.judge(request));
    rules.sign = {"git"};
    EXPECT_EQ(filter.judge(request).action, Action::forward);
    expect_refused(filter.judge(sign_message(kUserKey, file_data("file"))));
    expect_refused(filter.judge(sign_message(kHostKey, file_data("git"))));
    expect_refused(filter.judge(sign_message(kUserKey, file_data("git") + "x")));
    expect_refused(filter.judge(sign_message(kUserKey, "SSHSIG")));
}

TEST_F(FilterTest, EveryOtherMessageIsRefused) {
    bind();
    for (int kind = 0; kind < 256; ++kind) {
        if (kind == 11 || kind == 13) continue;
        const std::string message(1, static_cast<char>(kind));
        expect_refused(filter.judge(message));
        expect_refused(filter.judge(message + text("query")));
    }
    expect_refused(filter.judge("\x0bx"));
    EXPECT_EQ(filter.judge("\x0b").action, Action::forward);
}

TEST_F(FilterTest, TheListHasTheChosenKeysAndNoComments) {
    std::string list = "\x0c";
    network::wire::append_u32(list, 3);
    for (const std::string& key : {kHostKey, kUserKey, kOtherHost}) list += text(key) + text("me@home");
    EXPECT_EQ(filter.answer(Expected::identities, list), identities({kUserKey}));
    EXPECT_EQ(filter.answer(Expected::identities, list + "x"), failure());
    EXPECT_EQ(filter.answer(Expected::identities, std::nullopt), failure());
}

TEST_F(FilterTest, OtherAnswersOfTheUsersAgentAreNotPassedOn) {
    const std::string signature = "\x0e" + text("signature");
    EXPECT_EQ(filter.answer(Expected::signature, signature), signature);
    EXPECT_EQ(filter.answer(Expected::signature, signature + "x"), failure());
    EXPECT_EQ(filter.answer(Expected::signature, "\x0c"), failure());
    EXPECT_EQ(filter.answer(Expected::bind, failure()), success());
}

TEST_F(FilterTest, QuestionsAreAskedForLoginsAndFiles) {
    rules.asks = true;
    rules.sign = {"git"};
    bind();
    Decision decision = sign(usual_login());
    EXPECT_EQ(decision.action, Action::ask);
    EXPECT_FALSE(decision.use.is_each_asked);
    EXPECT_EQ(filter.judge(sign_message(kUserKey, file_data("git"))).action, Action::ask);
    // What is refused without a question stays refused.
    Login other = usual_login();
    other.user = "root";
    expect_refused(sign(other));
}

}  // namespace
}  // namespace ssh_agent
