// SPDX-License-Identifier: MIT
#include "cli/mail_stub.h"

#include <gtest/gtest.h>

namespace {

TEST(MailStub, IsPlayedUnderAMailersNameAlone) {
    EXPECT_EQ(cli::mailer_name("/usr/sbin/sendmail", "x"), "sendmail");
    EXPECT_EQ(cli::mailer_name("/dev/fd/3", "/bin/mailx"), "mailx");
    EXPECT_EQ(cli::mailer_name("/usr/bin/agent-sandbox", "agent-sandbox"), std::nullopt);
    EXPECT_EQ(cli::mailer_name("/mail/agent-sandbox", "as"), std::nullopt);
    EXPECT_EQ(cli::mailer_name("", ""), std::nullopt);
}

TEST(MailStub, SaysThatItIsPolicyAndNothingOfTheArguments) {
    std::string text = cli::mail_stub_text("mail.\x1b[31mred", 3);
    EXPECT_NE(text.find("policy, not a fault"), std::string::npos);
    EXPECT_NE(text.find("arguments given: 3"), std::string::npos);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('{'), std::string::npos);
}

}  // namespace
