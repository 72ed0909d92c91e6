// SPDX-License-Identifier: MIT
#include "ssh_agent/questions.h"

#include <gtest/gtest.h>

namespace ssh_agent {
namespace {

const Use kLogin{.host = nullptr, .target = "git@git.example", .key = "SHA256:a"};
const Use kUnbound{.host = nullptr, .target = "git", .key = "SHA256:a", .is_each_asked = true};
const Questions::Clock::time_point kNow{};

TEST(Questions, OneAnswerCountsForTheSession) {
    Questions questions;
    EXPECT_EQ(questions.hold(kLogin, 1, kNow), kFirstQuestion);
    EXPECT_EQ(questions.hold(kLogin, 2, kNow), 0u);
    auto answered = questions.approve(kFirstQuestion, false);
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->waiting, (std::vector<uint64_t>{1, 2}));
    EXPECT_TRUE(questions.earlier(kLogin)->is_approved);
    Use other = kLogin;
    other.key = "SHA256:b";
    EXPECT_FALSE(questions.earlier(other));
    other = kLogin;
    other.target = "root@git.example";
    EXPECT_FALSE(questions.earlier(other));
}

TEST(Questions, OnceIsOneSignature) {
    Questions questions;
    questions.hold(kLogin, 1, kNow);
    questions.hold(kLogin, 2, kNow);
    EXPECT_EQ(questions.approve(kFirstQuestion, true)->waiting, (std::vector<uint64_t>{1}));
    EXPECT_FALSE(questions.earlier(kLogin));
    // The same answer again has no effect: the second one has a number of its own.
    EXPECT_FALSE(questions.approve(kFirstQuestion, true));
    EXPECT_EQ(questions.approve(kFirstQuestion + 1, true)->waiting, (std::vector<uint64_t>{2}));
    EXPECT_TRUE(questions.list().empty());
}

TEST(Questions, AnApprovalOfAnUnknownHostIsOneSignature) {
    Questions questions;
    questions.hold(kUnbound, 1, kNow);
    questions.hold(kUnbound, 2, kNow);
    EXPECT_EQ(questions.approve(kFirstQuestion, false)->waiting, (std::vector<uint64_t>{1}));
    EXPECT_FALSE(questions.earlier(kUnbound));
}

TEST(Questions, ADenialCountsForTheSession) {
    Questions questions;
    questions.hold(kLogin, 1, kNow);
    EXPECT_EQ(questions.deny(kFirstQuestion, "no")->waiting, (std::vector<uint64_t>{1}));
    EXPECT_FALSE(questions.earlier(kLogin)->is_approved);
    EXPECT_EQ(questions.earlier(kLogin)->reason, "no");
    EXPECT_FALSE(questions.deny(kFirstQuestion, "no"));
}

TEST(Questions, ExpireAndAreWithdrawn) {
    Questions questions;
    EXPECT_FALSE(questions.oldest());
    questions.hold(kLogin, 1, kNow);
    questions.hold(kUnbound, 2, kNow + std::chrono::seconds(5));
    EXPECT_EQ(questions.oldest(), kNow);
    EXPECT_FALSE(questions.expire(kNow + std::chrono::seconds(9), std::chrono::seconds(10)));
    EXPECT_EQ(questions.expire(kNow + std::chrono::seconds(10), std::chrono::seconds(10))->waiting,
              (std::vector<uint64_t>{1}));
    EXPECT_FALSE(questions.earlier(kLogin));
    questions.cancel(2);
    EXPECT_TRUE(questions.list().empty());
}

TEST(Questions, AreLimited) {
    Questions questions;
    for (size_t i = 0; i < Questions::kMost; ++i) {
        Use use = kLogin;
        use.target += std::to_string(i);
        EXPECT_TRUE(questions.hold(use, i, kNow));
    }
    EXPECT_FALSE(questions.hold(kLogin, 99, kNow));
}

}  // namespace
}  // namespace ssh_agent
