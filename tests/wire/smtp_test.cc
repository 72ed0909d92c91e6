// SPDX-License-Identifier: MIT
#include "network/wire/refusals.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string verdict(std::string_view input) {
    return agreed(smtp_verdict, input);
}

TEST(Smtp, GreetsWithTheRefusal) {
    EXPECT_EQ(SmtpRefusal("mail is closed").greeting(), "554 mail is closed\r\n");
}

TEST(Smtp, TextStaysWithinTheProtocol) {
    EXPECT_EQ(SmtpRefusal("a\r\n250 b\tc\xc3\xbc\x1b").greeting(), "554 a  250 b c???\r\n");
    EXPECT_EQ(SmtpRefusal("").greeting(), "554 \r\n");
}

TEST(Smtp, LongTextTakesSeveralLines) {
    std::string word(300, 'a');
    EXPECT_EQ(SmtpRefusal(word + " " + word).greeting(), "554-" + word + "\r\n554 " + word + "\r\n");
    EXPECT_EQ(SmtpRefusal(std::string(401, 'x')).greeting(),
              "554-" + std::string(400, 'x') + "\r\n554 x\r\n");
}

TEST(Smtp, AnswersEveryCommandAndLetsGoAtQuit) {
    EXPECT_EQ(verdict("EHLO me\r\n"), "554 no mail\\x0d\\x0a open");
    EXPECT_EQ(verdict("EHLO me\r\nquit\r\nMAIL"), "554 no mail\\x0d\\x0a221 closing\\x0d\\x0a close");
    EXPECT_EQ(verdict("QUITE\r\n"), "554 no mail\\x0d\\x0a open");
    EXPECT_EQ(verdict("QUI"), " open");
}

TEST(Smtp, IsBounded) {
    EXPECT_EQ(verdict(std::string(512, 'x')), " open");
    EXPECT_EQ(verdict(std::string(513, 'x')), " close");
    std::string many, answers;
    for (size_t i = 0; i < kMaximumSmtpCommands; ++i) many += "NOOP\r\n", answers += "554 no mail\\x0d\\x0a";
    EXPECT_EQ(verdict(many + "NOOP\r\n"), answers + " close");
}

}  // namespace
}  // namespace network::wire
