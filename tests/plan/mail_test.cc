// SPDX-License-Identifier: MIT
#include "plan/network/mail.h"

#include <gtest/gtest.h>

#include "plan/case.h"
#include "plan/print/explain.h"

namespace {

constexpr std::string_view kMailers = R"(f /usr/sbin/exim4
l /usr/sbin/sendmail exim4
l /usr/lib/sendmail ../sbin/sendmail
f /usr/bin/busybox
l /usr/bin/mail busybox
f /usr/bin/mail.mailutils
f /usr/bin/msmtp
f /usr/bin/mailcap
f /home/ann/bin/msmtp
)";

plan::Plan planned(const std::string& network) {
    const std::string settings = "[network]\n" + network;
    test::Case example{.toml = {.user = settings}};
    example.tree += kMailers;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

TEST(Mail, KnowsMailersByName) {
    for (const char* name : {"sendmail", "Mail", "mail.mailutils", "exim4", "exim-4.96-1", "sendmail.exim4"})
        EXPECT_TRUE(plan::is_mailer_name(name)) << name;
    for (const char* name : {"", "mailcap", "mail-notify", "mutt-helper", "sendmail.", "busybox",
                             "agent-sandbox", "MAIL", "procmail"})
        EXPECT_FALSE(plan::is_mailer_name(name)) << name;
}

TEST(Mail, CoversTheFilesThemselves) {
    plan::Plan plan = planned("");
    for (const char* path : {"/usr/sbin/exim4", "/usr/bin/msmtp"}) {
        const plan::Mount* mount = test::mount_at(plan, path);
        ASSERT_TRUE(mount) << path;
        EXPECT_EQ(mount->kind, plan::MountKind::bind_readonly);
        EXPECT_EQ(mount->source, "/usr/bin/agent-sandbox");
    }
    for (const char* path : {"/usr/bin/busybox", "/usr/bin/mail", "/usr/sbin/sendmail", "/usr/bin/mailcap",
                             "/home/ann/bin/msmtp"})
        EXPECT_FALSE(test::mount_at(plan, path)) << path;
}

TEST(Mail, EveryNameIsFoundInPath) {
    plan::Plan plan = planned("");
    const plan::Mount* link = test::mount_at(plan, "/run/agent-sandbox/stubs/swaks");
    ASSERT_TRUE(link);
    EXPECT_EQ(link->source, "/run/agent-sandbox/agent-sandbox");
    for (const plan::Variable& variable : plan.environment.passed) {
        if (variable.name == "PATH") {
            EXPECT_EQ(variable.value, "/run/agent-sandbox/stubs:/usr/bin");
        }
    }
}

TEST(Mail, IsLeftAloneWhereItIsOpen) {
    for (const char* network : {"mode = \"open\"", "mail_block = \"off\""}) {
        plan::Plan plan = planned(network);
        EXPECT_FALSE(plan.network.closes_mail) << network;
        EXPECT_FALSE(test::mount_at(plan, "/usr/sbin/exim4")) << network;
        EXPECT_FALSE(test::mount_at(plan, "/run/agent-sandbox/stubs/mail")) << network;
    }
}

TEST(Mail, WhySaysThatAStubStandsThere) {
    plan::Plan plan = planned("");
    test::Case example;
    example.tree += kMailers;
    auto why = plan::explain_path(plan, test::tree_of(example), base::Path::known("/usr/bin/msmtp"), false);
    EXPECT_EQ(why.verdict, "made for the jail");
    EXPECT_NE(why.reason.why.find("mail is closed"), std::string::npos);
}

}  // namespace
