// SPDX-License-Identifier: MIT
#include "plan/print/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/case.h"

namespace {

using base::Path;
using config::Layer;
using plan::Access;
using plan::Backing;

config::Origin line_of(Layer layer, std::string file, int line) {
    return config::Origin{.layer = layer, .file = std::move(file), .line = line};
}

struct ExplainTest : testing::Test {
    plan::Plan plan;
    host::MemoryTree tree = *host::MemoryTree::parse(
        "d /usr/bin\n"
        "l /bin usr/bin\n"
        "f /usr/bin/git\n"
        "f /etc/hosts\n"
        "f /etc/shadow\n"
        "f /etc/group-\n"
        "s /run/docker.sock\n"
        "d /home/ann/.ssh\n"
        "f /home/ann/.ssh/known_hosts\n"
        "f /home/ann/notes\n"
        "d /home/ann/app\n"
        "f /home/ann/app/.env\n"
        "d /home/ann/app/.git/hooks\n"
        "l /home/ann/shortcut /data/big\n"
        "f /data/big/file\n"
        "d /data/secret\n"
        "s /run/service.sock\n"
        "c /dev/nvidia0\n");

    void SetUp() override {
        plan.project = Path::known("/home/ann/app");
        rule("/usr", Access::readonly, "programs");
        rule("/home/ann", Access::writable, "home.access = tmpwrite", {}, Backing::ephemeral);
        rule("/home/ann/.ssh", Access::hidden, "SSH keys");
        rule("/home/ann/app", Access::writable, "the project", config::from_flag("--project"));
        rule("/home/ann/app/.env", Access::masked, "secrets of the project");
        rule("/home/ann/app/.git/hooks", Access::readonly, "git runs them");
        mount(plan::MountKind::symlink, "/bin", "usr/bin");
        mount(plan::MountKind::dev, "/dev", "");
        mount(plan::MountKind::tmpfs, "/etc", "");
        mount(plan::MountKind::bind_readonly, "/run/host/etc", "/etc");
        mount(plan::MountKind::symlink, "/etc/hosts", "/run/host/etc/hosts");
        mount(plan::MountKind::symlink, "/etc/group-", "../run/host/etc/group-");
        mount(plan::MountKind::empty_file, "/run/host/etc/group-", "");
        plan.environment.passed = {{"HOME", "/home/ann", {}}};
    }

    void rule(const char* path, Access access, std::string why, config::Origin origin = {},
              Backing backing = Backing::host) {
        plan.rules.push_back({.path = Path::known(path),
                              .access = access,
                              .backing = backing,
                              .reason = {std::move(why), std::move(origin)}});
        std::ranges::sort(plan.rules, {}, &plan::PathRule::path);
    }
    void mount(plan::MountKind kind, const char* target, std::string source) {
        plan.mounts.push_back({.kind = kind, .target = Path::known(target), .source = std::move(source)});
    }
    plan::Explanation read(const char* path) const {
        return plan::explain_path(plan, tree, Path::known(path), false);
    }
    plan::Explanation write(const char* path) const {
        return plan::explain_path(plan, tree, Path::known(path), true);
    }
};

TEST_F(ExplainTest, TheMostSpecificRuleDecides) {
    EXPECT_TRUE(write("/home/ann/app/main.c").is_allowed);
    EXPECT_EQ(write("/home/ann/app/main.c").reason.why, "the project");
    EXPECT_FALSE(write("/home/ann/app/.git/hooks/pre-commit").is_allowed);
    EXPECT_TRUE(read("/home/ann/app/.git/hooks/pre-commit").is_allowed);
}

TEST_F(ExplainTest, WhatNoRuleShowsIsHiddenAndAFlagShowsIt) {
    plan::Explanation explanation = read("/data/big/file");
    EXPECT_FALSE(explanation.is_allowed);
    EXPECT_EQ(explanation.verdict, "hidden");
    EXPECT_EQ(explanation.reason.why, "no rule shows it");
    EXPECT_EQ(explanation.change, "--ro /data/big/file");
    EXPECT_EQ(write("/data/big/file").change, "--rw /data/big/file");
    EXPECT_EQ(read("/data/two words").change, "make it outside first, then --ro '/data/two words'");
    EXPECT_EQ(read("/data/two words").reason.why, "no rule shows it; you see no such file outside either");
}

// A flag for a missing path would be refused.
TEST_F(ExplainTest, WhatIsMissingBelowAProtectedPathIsOpenedByTheRow) {
    EXPECT_EQ(write("/home/ann/app/.git/hooks/new").change, "project.unprotect = [\".git/hooks\"]");
    plan.is_seen_from_inside = true;
    EXPECT_EQ(read("/data/none").change, "--ro /data/none") << "nobody can tell inside";
}

TEST_F(ExplainTest, ADirectoryAboveSomethingShownIsOnlyTheWayToIt) {
    EXPECT_NE(read("/home").reason.why.find("the way to"), std::string::npos);
}

TEST_F(ExplainTest, BothSpellingsOfALinkedPathAreJudged) {
    plan::Explanation explanation = read("/bin/git");
    EXPECT_TRUE(explanation.is_allowed);
    EXPECT_EQ(explanation.subject, "/bin/git -> /usr/bin/git");
}

TEST_F(ExplainTest, AShownFileBehindALinkThatIsNotInTheJailIsHidden) {
    rule("/data/big", Access::readonly, "mounts.readonly", config::from_flag("--ro"));
    EXPECT_TRUE(read("/data/big/file").is_allowed);
    plan::Explanation explanation = read("/home/ann/shortcut/file");
    EXPECT_FALSE(explanation.is_allowed);
    EXPECT_NE(explanation.reason.why.find("/home/ann/shortcut"), std::string::npos);
    mount(plan::MountKind::symlink, "/home/ann/shortcut", "/data/big");
    EXPECT_TRUE(read("/home/ann/shortcut/file").is_allowed);
}

TEST_F(ExplainTest, AFileOfTheHostInAPrivatePlaceIsNotSeenThoughItsPlaceCanBeWritten) {
    EXPECT_FALSE(read("/home/ann/notes").is_allowed);
    EXPECT_EQ(read("/home/ann/notes").verdict, "private");
    EXPECT_EQ(read("/home/ann/notes").change, "--ro /home/ann/notes");
    EXPECT_TRUE(write("/home/ann/notes").is_allowed);
    EXPECT_NE(write("/home/ann/notes").reason.why.find("discarded"), std::string::npos);
    EXPECT_EQ(write("/home/ann/notes").change, "--rw /home/ann/notes, to keep them");
    EXPECT_NE(plan::to_text(write("/home/ann/notes")).find("to change"), std::string::npos);
}

TEST_F(ExplainTest, InAnAssembledPlaceOnlyWhatWasPutThereIsThere) {
    EXPECT_TRUE(read("/etc/hosts").is_allowed);
    EXPECT_FALSE(read("/etc/shadow").is_allowed);
    EXPECT_EQ(read("/etc/shadow").verdict, "hidden");
    EXPECT_EQ(read("/etc/group-").verdict, "reads as empty");
    EXPECT_TRUE(write("/dev/null").is_allowed);
    EXPECT_FALSE(write("/dev/nvidia0").is_allowed);
    EXPECT_EQ(read("/etc/shadow").change, "--ro /etc/shadow");
    EXPECT_EQ(write("/etc/shadow").change, "");
}

TEST_F(ExplainTest, AFileMadeForTheJailIsNotTheHosts) {
    mount(plan::MountKind::file, "/etc/passwd", "content");
    mount(plan::MountKind::file, "/home/ann/.gitconfig", "content");
    EXPECT_TRUE(read("/etc/passwd").is_allowed);
    EXPECT_EQ(read("/etc/passwd").verdict, "made for the jail");
    EXPECT_FALSE(write("/etc/passwd").is_allowed);
    EXPECT_EQ(write("/etc/passwd").change, "");
    EXPECT_TRUE(write("/home/ann/.gitconfig").is_allowed);
    EXPECT_EQ(write("/home/ann/.gitconfig").verdict, "private copy");
}

TEST_F(ExplainTest, ACredentialCantBeOpenedAtItsOwnPath) {
    plan::Explanation explanation = read("/home/ann/.ssh");
    EXPECT_FALSE(explanation.is_allowed);
    EXPECT_EQ(explanation.reason.why, "SSH keys");
    EXPECT_EQ(explanation.change, "");
    EXPECT_NE(plan::to_text(explanation).find("no flag and no setting"), std::string::npos);
    EXPECT_EQ(read("/home/ann/.ssh/known_hosts").change, "--ro /home/ann/.ssh/known_hosts");
}

TEST_F(ExplainTest, WhatTheAdministratorDecidedIsChangedByTheAdministrator) {
    rule("/data/secret", Access::hidden, "mounts.hidden",
         line_of(Layer::admin, "/etc/agent-sandbox/config.toml", 4));
    for (const char* path : {"/data/secret", "/data/secret/below"}) {
        EXPECT_EQ(read(path).change, "");
        EXPECT_NE(plan::to_text(read(path)).find("ask the administrator: /etc/agent-sandbox/config.toml:4"),
                  std::string::npos);
    }
}

TEST_F(ExplainTest, AUsersOwnRuleIsUndoneWhereItWasWritten) {
    rule("/usr/local", Access::hidden, "mounts.hidden", line_of(Layer::user, "/home/ann/config.toml", 7));
    rule("/usr/share", Access::hidden, "mounts.hidden", config::from_flag("--hide"));
    EXPECT_EQ(read("/usr/local").change, "remove it from /home/ann/config.toml:7");
    EXPECT_EQ(read("/usr/share").change, "leave out --hide");
}

TEST_F(ExplainTest, MasksAndProtectionsOfTheProjectHaveTheirOwnSettings) {
    EXPECT_EQ(read("/home/ann/app/.env").verdict, "reads as empty");
    EXPECT_EQ(read("/home/ann/app/.env").change, "project.unmask = [\".env\"]");
    EXPECT_EQ(write("/home/ann/app/.git/hooks").change, "project.unprotect = [\".git/hooks\"]");
}

TEST_F(ExplainTest, AReadOnlyProjectIsMadeWritableWhereThatWasSaid) {
    plan.project_is_writable = false;
    auto project = std::ranges::find(plan.rules, plan.project, &plan::PathRule::path);
    project->access = Access::readonly;
    project->reason.origin = config::from_flag("--read-only");
    EXPECT_EQ(write("/home/ann/app/main.c").change, "leave out --read-only");
}

TEST_F(ExplainTest, SocketsAndDevicesHaveFlagsOfTheirOwn) {
    EXPECT_EQ(read("/run/service.sock").change, "--socket /run/service.sock");
    EXPECT_EQ(read("/run/docker.sock").change, "--dangerous-socket /run/docker.sock");
    EXPECT_EQ(read("/dev/nvidia0").change, "--device /dev/nvidia0");
    EXPECT_EQ(read("/dev/sda").change, "");
}

TEST_F(ExplainTest, NoFlagIsProposedThatThePlanWouldRefuse) {
    EXPECT_EQ(read("/").change, "");
    EXPECT_EQ(read("/home").change, "");
    EXPECT_EQ(write("/proc/sys/kernel/hostname").change, "");
    EXPECT_EQ(write("/etc/hosts").change, "");
}

TEST_F(ExplainTest, AVariableIsPassedRemovedOrNotSet) {
    plan.environment.passed = {{"LANG", "C", {"locale", {}}}};
    plan.environment.removed = {
        {"MY_TOKEN", {"*_TOKEN", {}}},
        {"SITE_KEY", {"env.block", line_of(Layer::admin, "/etc/agent-sandbox/config.toml", 9)}}};
    EXPECT_TRUE(plan::explain_variable(plan, "LANG").is_allowed);
    EXPECT_EQ(plan::explain_variable(plan, "MY_TOKEN").verdict, "removed");
    EXPECT_EQ(plan::explain_variable(plan, "MY_TOKEN").change, "--env MY_TOKEN");
    EXPECT_EQ(plan::explain_variable(plan, "SITE_KEY").change, "");
    EXPECT_EQ(plan::explain_variable(plan, "OTHER").verdict, "not set");
}

TEST_F(ExplainTest, PrintsForPeopleAndForPrograms) {
    plan::Explanation explanation = read("/data/big");
    EXPECT_EQ(plan::to_text(explanation),
              "/data/big: hidden\n"
              "  because     no rule shows it\n"
              "  decided by  built-in\n"
              "  to change   --ro /data/big\n");
    base::Json json = plan::to_json(explanation);
    EXPECT_FALSE(json.truth("allowed", true));
    EXPECT_EQ(json.text("change"), "--ro /data/big");
}

// ---- Hosts

plan::Explanation why_host(const std::string& network, std::string_view host) {
    auto plan = test::planned({.toml = {.user = "[network]\n" + network}});
    if (!plan) {
        ADD_FAILURE() << plan.error().line();
        return {};
    }
    auto why = plan::explain_host(*plan, host);
    if (!why) ADD_FAILURE() << why.error().line();
    return why ? *why : plan::Explanation{};
}

TEST(WhyHost, NamesTheRuleItsOriginAndTheChange) {
    plan::Explanation open = why_host("", "Example.org");
    EXPECT_EQ(open.subject, "example.org:443");
    EXPECT_TRUE(open.is_allowed);
    EXPECT_NE(open.reason.why.find("judged when a connection is made"), std::string::npos);

    plan::Explanation blocked = why_host("block = [\"*.example.org\"]", "a.example.org:80");
    EXPECT_EQ(blocked.verdict, "closed");
    EXPECT_NE(blocked.reason.why.find("*.example.org"), std::string::npos);
    EXPECT_EQ(blocked.reason.origin.line, 2);

    EXPECT_EQ(why_host("mode = \"proxied\"", "example.org").change, "--allow-host example.org");
    EXPECT_EQ(why_host("", "pastebin.com").change, "--allow-host pastebin.com");
    EXPECT_EQ(why_host("", "example.org:25").change,
              "only the administrator can change this: network.allow = [\"example.org:25\"] in "
              "/etc/agent-sandbox/config.toml");
    EXPECT_EQ(why_host("", "host.agent-sandbox.internal:5432").change, "--host-port 5432");
    EXPECT_TRUE(why_host("mode = \"open\"", "example.org:25").is_allowed);
    EXPECT_FALSE(why_host("mode = \"isolated\"", "example.org").is_allowed);
}

TEST(WhyHost, TakesAddressesAndUdp) {
    EXPECT_EQ(why_host("", "10.1.2.3").change, "network.private = [\"10.1.2.3\"]");
    EXPECT_EQ(why_host("", "2001:db8::1").subject, "[2001:db8::1]:443");
    EXPECT_EQ(why_host("", "[2001:db8::1]:22").subject, "[2001:db8::1]:22");
    EXPECT_EQ(why_host("", "169.254.169.254:80").change, "");
    EXPECT_TRUE(why_host("udp = [\"a.org:123\"]", "udp:a.org:123").is_allowed);
    EXPECT_FALSE(why_host("udp = [\"a.org:123\"]", "udp:a.org:124").is_allowed);
}

TEST(WhyHost, LoopbackIsTheJailsOwnAndTheHostsServicesHaveAnotherName) {
    constexpr const char* kNamed =
        "--host-port 5432, and inside 127.0.0.1:5432 or host.agent-sandbox.internal:5432";
    for (const char* host :
         {"localhost:5432", "a.localhost:5432", "127.0.0.1:5432", "127.0.0.2:5432", "[::1]:5432"}) {
        for (const char* mode : {"", "mode = \"proxied\"", "allow = [\"localhost\"]"}) {
            plan::Explanation why = why_host(mode, host);
            EXPECT_EQ(why.verdict, "closed") << host << mode;
            EXPECT_FALSE(why.is_allowed) << host << mode;
            EXPECT_EQ(why.change, kNamed) << host << mode;
        }
    }
    for (const char* host : {"localhost:5432", "127.0.0.1:5432", "[::1]:5432"}) {
        plan::Explanation why = why_host("host_services = [\"5432\"]", host);
        EXPECT_EQ(why.verdict, "open") << host;
        EXPECT_TRUE(why.is_allowed) << host;
    }
    EXPECT_EQ(why_host("host_services = [\"5432\"]", "127.0.0.2:5432").change,
              "use host.agent-sandbox.internal:5432 inside, which is open");
    EXPECT_FALSE(
        why_host("host_services = [\"5432\"]\npublish = [\"8080:5432\"]", "127.0.0.1:5432").is_allowed)
        << "the jail's own server has the port";
    EXPECT_FALSE(why_host("host_services = [\"5432\"]", "127.0.0.1:5433").is_allowed);
    EXPECT_FALSE(why_host("host_services = [\"5432\"]", "udp:127.0.0.1:5432").is_allowed);
    EXPECT_EQ(why_host("mode = \"isolated\"", "localhost:5432").change,
              std::string("--network filtered ") + kNamed);
    EXPECT_EQ(why_host("", "udp:localhost:5432").change, "");
    EXPECT_EQ(why_host("", "localhost:25").change, "");
    EXPECT_TRUE(why_host("mode = \"open\"", "localhost:5432").is_allowed) << "there it is the host's";
}

TEST(WhyHost, RefusesWhatIsNoHost) {
    auto plan = test::planned({});
    for (const char* text : {"https://example.org/", "a.org:0", "a.org:x", "a.org:70000", "127.1", "", "a b"})
        EXPECT_FALSE(plan::explain_host(*plan, text).ok()) << text;
}

}  // namespace
