// SPDX-License-Identifier: MIT
// Threat: a process in the jail renames a directory above the sandbox's own configuration or state, and puts
// its own directory in that place for the next session.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/case.h"

namespace {

using plan::MountKind;
using test::access;
using test::Case;
using test::holds;
using test::mount_at;

constexpr const char* kWrite = "[home]\naccess = \"write\"";
constexpr const char* kConfig = "/home/ann/.config/agent-sandbox";
constexpr const char* kState = "/home/ann/.local/state/agent-sandbox";

plan::Plan plan_of(const Case& example) {
    auto plan = test::planned(example);
    if (!plan) {
        ADD_FAILURE() << plan.error().line();
        return {};
    }
    return *std::move(plan);
}

Case with(const std::string& more, const char* settings, std::string project = "/home/ann/app") {
    Case example{.toml = {.user = settings}, .project = std::move(project)};
    example.tree += more;
    return example;
}

std::string kind_at(const plan::Plan& plan, std::string_view target) {
    const plan::Mount* mount = mount_at(plan, target);
    return mount ? std::string(plan::to_text(mount->kind)) : "none";
}

bool makes(const plan::Plan& plan, std::string_view path) {
    return std::ranges::any_of(plan.new_directories,
                               [&](const plan::NewDirectory& made) { return made.path.str() == path; });
}

void expect_refused(const Case& example, const char* what) {
    auto plan = test::planned(example);
    ASSERT_FALSE(plan) << what;
    EXPECT_NE(plan.error().what.find(what), std::string::npos) << plan.error().line();
    EXPECT_FALSE(plan.error().advice.empty());
}

TEST(OwnDirectories, InAHomeThatCanBeWrittenAreHeldWithAllAboveThem) {
    plan::Plan plan = plan_of(
        with("f /home/ann/.config/agent-sandbox/config.toml\nd /home/ann/.local/state/agent-sandbox/trust\n",
             kWrite));
    EXPECT_EQ(kind_at(plan, "/home/ann/.config"), "bind-writable");
    EXPECT_EQ(kind_at(plan, kConfig), "bind-readonly");
    EXPECT_EQ(kind_at(plan, "/home/ann/.local"), "bind-writable");
    EXPECT_EQ(kind_at(plan, "/home/ann/.local/state"), "bind-writable");
    EXPECT_EQ(kind_at(plan, kState), "tmpfs");
    EXPECT_EQ(access(plan, "/home/ann/.local/share"), "writable");
    EXPECT_FALSE(makes(plan, kState));
    EXPECT_FALSE(holds(plan, kConfig));
}

TEST(OwnDirectories, ThatAreMissingAreMadeBeforeTheJailCould) {
    plan::Plan plan = plan_of(with("", kWrite));
    EXPECT_EQ(kind_at(plan, "/home/ann/.config"), "bind-writable");
    EXPECT_EQ(kind_at(plan, kConfig), "bind-readonly");
    EXPECT_TRUE(holds(plan, kConfig));
    EXPECT_EQ(kind_at(plan, "/home/ann/.local/state"), "bind-writable");
    EXPECT_EQ(kind_at(plan, kState), "tmpfs");
    EXPECT_TRUE(makes(plan, kState));
}

TEST(OwnDirectories, ThatAnotherSessionHoldsAreHeldByThisOneToo) {
    EXPECT_TRUE(holds(plan_of(with("d /home/ann/.config/agent-sandbox\n", kWrite)), kConfig));
}

TEST(OwnDirectories, NeedNothingWhereNobodyCanWrite) {
    for (const char* settings : {"", "[home]\naccess = \"restricted\"", "[home]\naccess = \"read\""}) {
        plan::Plan plan = plan_of(with("d /home/ann/.config/x\nd /home/ann/.local/share\n", settings));
        EXPECT_EQ(kind_at(plan, "/home/ann/.config"), "none") << settings;
        EXPECT_EQ(kind_at(plan, "/home/ann/.local"), "none") << settings;
        EXPECT_FALSE(holds(plan, kConfig)) << settings;
        EXPECT_FALSE(makes(plan, kState)) << settings;
    }
    // A home directory in which its owner can't create anything.
    Case closed =
        with("r /data/ann\nd /data/ann/app\n", "[mounts]\nwritable = [\"/data/ann\"]", "/data/ann/app");
    closed.config_home = "/data/ann/.config";
    plan::Plan plan = plan_of(closed);
    EXPECT_EQ(kind_at(plan, "/data/ann/.config"), "none");
    EXPECT_FALSE(holds(plan, "/data/ann/.config/agent-sandbox"));
}

TEST(OwnDirectories, InAWritableMountAreHeld) {
    const char* settings = "[mounts]\nwritable = [\"~/.local\", \"~/.config\"]";
    plan::Plan plan =
        plan_of(with("d /home/ann/.local/share\nf /home/ann/.config/agent-sandbox/config.toml\n", settings));
    EXPECT_EQ(kind_at(plan, "/home/ann/.local/state"), "bind-writable");
    EXPECT_EQ(kind_at(plan, kState), "tmpfs");
    EXPECT_TRUE(makes(plan, kState));
    EXPECT_EQ(kind_at(plan, kConfig), "bind-readonly");
    EXPECT_EQ(access(plan, "/home/ann/.config/other"), "writable");
}

TEST(OwnDirectories, InTheProjectAreHeld) {
    Case example = with("", "");
    example.config_home = "/home/ann/app/a/config";
    example.state_home = "/home/ann/app/a/b/state";
    plan::Plan plan = plan_of(example);
    for (const char* above :
         {"/home/ann/app/a", "/home/ann/app/a/config", "/home/ann/app/a/b", "/home/ann/app/a/b/state"})
        EXPECT_EQ(kind_at(plan, above), "bind-writable") << above;
    EXPECT_EQ(kind_at(plan, "/home/ann/app/a/config/agent-sandbox"), "bind-readonly");
    EXPECT_EQ(kind_at(plan, "/home/ann/app/a/b/state/agent-sandbox"), "tmpfs");

    example.toml.user = "[project]\nread_only = true";
    EXPECT_EQ(kind_at(plan_of(example), "/home/ann/app/a"), "none");
}

TEST(OwnDirectories, BelowSomethingReadOnlyAreHeldFromWhereItCanBeWritten) {
    std::string tree = "d /home/ann/.local/state/x\n";
    plan::Plan plan =
        plan_of(with(tree, "[home]\naccess = \"write\"\n[mounts]\nreadonly = [\"~/.local/state\"]"));
    EXPECT_EQ(kind_at(plan, "/home/ann/.local"), "bind-writable");
    EXPECT_EQ(kind_at(plan, "/home/ann/.local/state"), "bind-readonly");
    // A directory that the user hides stays hidden inside, although the launch creates the state directory
    // below it.
    plan = plan_of(with("", "[home]\naccess = \"write\"\n[mounts]\nhidden = [\"~/.local\"]"));
    EXPECT_EQ(kind_at(plan, "/home/ann/.local"), "tmpfs");
    EXPECT_EQ(access(plan, "/home/ann/.local/share"), "hidden");
    EXPECT_TRUE(makes(plan, kState));
}

TEST(OwnDirectories, BehindALinkThatCouldBeExchangedAreRefused) {
    const char* link =
        "l /home/ann/.config/agent-sandbox ../dotfiles/config/sandbox\n"
        "f /home/ann/dotfiles/config/sandbox/config.toml\n";
    expect_refused(with(link, kWrite), "/home/ann/.config/agent-sandbox is a symbolic link");
    expect_refused(with("d /data/local\nl /home/ann/.local /data/local\n", kWrite),
                   "/home/ann/.local is a symbolic link");
    // If only the link's target is writable, the target is protected.
    plan::Plan plan = plan_of(with(link, "", "/home/ann/dotfiles"));
    EXPECT_EQ(kind_at(plan, "/home/ann/dotfiles/config"), "bind-writable");
    EXPECT_EQ(kind_at(plan, "/home/ann/dotfiles/config/sandbox"), "bind-readonly");
}

TEST(OwnDirectories, FilesThatAreKeptElsewhereAreHeldThere) {
    std::string tree =
        "f /home/ann/dotfiles/deep/sandbox.toml\nd /home/ann/dotfiles/parts\n"
        "l /home/ann/.config/agent-sandbox/config.toml ../../dotfiles/deep/sandbox.toml\n"
        "l /home/ann/.config/agent-sandbox/conf.d /home/ann/dotfiles/parts\n"
        "f /home/ann/other/part.toml\n"
        "l /home/ann/dotfiles/parts/one.toml /home/ann/other/part.toml\n";
    plan::Plan plan = plan_of(with(tree, "", "/home/ann/dotfiles"));
    EXPECT_EQ(kind_at(plan, "/home/ann/dotfiles/deep"), "bind-writable");
    EXPECT_EQ(kind_at(plan, "/home/ann/dotfiles/deep/sandbox.toml"), "bind-readonly");
    EXPECT_EQ(kind_at(plan, "/home/ann/dotfiles/parts"), "bind-readonly");
    EXPECT_EQ(kind_at(plan, "/home/ann/other/part.toml"), "none") << "not shown, and so not shown now";
    EXPECT_EQ(kind_at(plan_of(with(tree, "", "/home/ann/other")), "/home/ann/other/part.toml"),
              "bind-readonly");
}

TEST(OwnDirectories, AreGivenToNobody) {
    std::string tree =
        "d /home/ann/.config/agent-sandbox/conf.d\nd /home/ann/.local/state/agent-sandbox/trust\n";
    const char* settings = "[mounts]\nwritable = [\"~/.config/agent-sandbox/conf.d\"]";
    expect_refused(with(tree, settings), "conf.d can't be writable");
    expect_refused(with(tree, "[home]\nwritable = [\".local/state/agent-sandbox/trust\"]"),
                   "trust can't be writable");
    expect_refused(with(tree, "", kConfig), "can't be a writable project");
    plan_of(with(tree, "[project]\nread_only = true", kConfig));
}

}  // namespace
