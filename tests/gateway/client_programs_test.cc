// SPDX-License-Identifier: MIT
#include "network/gateway/broker/client_programs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace network::gateway {
namespace {

struct Questions {
    std::vector<std::pair<uint64_t, uint16_t>> asked;
    std::vector<std::string> answers;
    std::shared_ptr<char> alive = std::make_shared<char>();
    ClientPrograms programs;

    Questions() {
        programs.ask_by([this](uint64_t ticket, uint16_t port) { asked.emplace_back(ticket, port); });
    }
    void find(uint16_t port) {
        programs.find(port, alive, [this](const std::string& program) { answers.push_back(program); });
    }
};

TEST(ClientPrograms, PassesTheAnswerToTheConnectionThatAsked) {
    Questions questions;
    questions.find(4711);
    questions.find(4712);
    ASSERT_EQ(questions.asked.size(), 2u);
    EXPECT_EQ(questions.asked[0].second, 4711);
    EXPECT_TRUE(questions.answers.empty());
    questions.programs.take(questions.asked[1].first, "curl (process 2)");
    questions.programs.take(questions.asked[1].first, "again");
    questions.programs.take(99, "of no question");
    EXPECT_EQ(questions.answers, std::vector<std::string>{"curl (process 2)"});
    questions.alive.reset();
    questions.programs.take(questions.asked[0].first, "late");
    EXPECT_EQ(questions.answers.size(), 1u) << "the connection has ended";
}

// Threat: a jail that opens many connections keeps the supervisor busy with questions.
TEST(ClientPrograms, AsksAFewTimesOnly) {
    Questions questions;
    for (int i = 0; i < 1000; ++i) questions.find(1);
    EXPECT_LT(questions.asked.size(), 200u);
    EXPECT_GE(questions.asked.size(), static_cast<size_t>(ClientPrograms::kBurst));
    EXPECT_EQ(questions.answers.size() + questions.asked.size(), 1000u) << "the others go on without a name";
    EXPECT_EQ(questions.answers.front(), "");
}

TEST(ClientPrograms, KnowsProgramsThatTrustTheSession) {
    Questions questions;
    questions.programs.note_trust("a.example", "node 'claude' (process 7)");
    EXPECT_TRUE(questions.programs.has_trusted("a.example", "node 'claude' (process 8)"));
    EXPECT_FALSE(questions.programs.has_trusted("b.example", "node 'claude' (process 7)"));
    EXPECT_FALSE(questions.programs.has_trusted("a.example", "node"));
}

}  // namespace
}  // namespace network::gateway
