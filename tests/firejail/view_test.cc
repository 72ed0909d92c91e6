// SPDX-License-Identifier: MIT
#include "backends/firejail/view.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using backends::firejail::Act;
using backends::firejail::Entry;
using backends::firejail::Host;
using backends::firejail::make_view;
using backends::firejail::View;
using base::Path;
using plan::Access;
using plan::Backing;
using plan::Mount;
using plan::MountKind;
using plan::PathRule;

constexpr std::string_view kNothing = ".agent-sandbox-shows-nothing-here";

constexpr std::string_view kMachine = R"(
d /usr/bin
l /bin usr/bin
d /etc/ssl
d /proc
d /sys
d /dev/dri
c /dev/dri/card0
c /dev/dri/renderD128
c /dev/fuse
d /run/user/1000
d /var/tmp
d /tmp/agent-sandbox-1/tmp
d /srv
d /data/lab/project
d /data/other
d /home/ann/src/project/.git/hooks
f /home/ann/src/project/.env
f /home/ann/.vimrc
f /home/ann/.bashrc
d /var/tmp/project
f /home/ann/.Xauthority
d /home/bob/shared
f /swapfile
)";

PathRule rule(std::string_view path, Access access, Backing backing = Backing::host) {
    return PathRule{.path = Path::known(path), .access = access, .backing = backing};
}

struct Case {
    plan::Plan plan;

    Case() {
        plan.rules = {rule("/usr", Access::readonly), rule("/tmp", Access::writable, Backing::ephemeral),
                      rule("/run", Access::readonly, Backing::ephemeral),
                      rule("/var/tmp", Access::writable, Backing::ephemeral),
                      rule("/home/ann", Access::writable, Backing::ephemeral)};
    }

    void add(PathRule added) { plan.rules.push_back(std::move(added)); }

    base::Result<View> make() {
        std::ranges::sort(plan.rules, {}, &PathRule::path);
        base::Result<host::MemoryTree> tree = host::MemoryTree::parse(kMachine);
        EXPECT_TRUE(tree);
        return make_view(plan, Host{.tree = *tree,
                                    .home = Path::known("/home/ann"),
                                    .user = 1000,
                                    .program = Path::known("/usr/bin/agent-sandbox")});
    }

    View view() {
        base::Result<View> made = make();
        EXPECT_TRUE(made) << made.error().line();
        return made ? *made : View{};
    }
};

bool has(const View& view, Act act, std::string_view path) {
    return std::ranges::find(view.entries, Entry{act, Path::known(path)}) != view.entries.end();
}

size_t position(const View& view, Act act, std::string_view path) {
    return static_cast<size_t>(std::ranges::find(view.entries, Entry{act, Path::known(path)}) -
                               view.entries.begin());
}

bool is_emptied(const View& view, std::string_view path) {
    return std::ranges::find(view.emptied, Path::known(path)) != view.emptied.end();
}

TEST(FirejailView, EveryTopThatNoRuleShowsIsEmptied) {
    View view = Case().view();
    for (std::string_view top : {"/srv", "/data", "/tmp", "/run"}) {
        EXPECT_TRUE(is_emptied(view, top)) << top;
        EXPECT_TRUE(has(view, Act::whitelist, std::string(top) + "/" + std::string(kNothing))) << top;
    }
    EXPECT_TRUE(is_emptied(view, "/var"));
    EXPECT_TRUE(has(view, Act::whitelist, "/var/tmp"));
    EXPECT_TRUE(is_emptied(view, "/home/ann"));
    EXPECT_FALSE(is_emptied(view, "/usr"));
    EXPECT_TRUE(has(view, Act::blacklist, "/swapfile"));
    EXPECT_TRUE(has(view, Act::blacklist, "/sys"));
    EXPECT_TRUE(has(view, Act::blacklist, "/run/user"));
    EXPECT_TRUE(has(view, Act::blacklist, "/dev/log"));
}

TEST(FirejailView, TheKeyToTheScreenIsNotLeftInAnEmptyHome) {
    EXPECT_TRUE(has(Case().view(), Act::blacklist, "/home/ann/.Xauthority"));
}

TEST(FirejailView, AProjectIsTheOnlyThingInItsTop) {
    Case example;
    example.add(rule("/data/lab/project", Access::writable));
    View view = example.view();
    EXPECT_TRUE(has(view, Act::whitelist, "/data/lab/project"));
    EXPECT_FALSE(has(view, Act::read_only, "/data/lab/project"));
    EXPECT_TRUE(is_emptied(view, "/data"));
    EXPECT_FALSE(has(view, Act::whitelist, "/data/" + std::string(kNothing)));
}

TEST(FirejailView, PartsOfAProjectAreCoveredProtectedAndHeld) {
    Case example;
    example.add(rule("/home/ann/src/project", Access::writable));
    PathRule git = rule("/home/ann/src/project/.git", Access::writable);
    git.holds_name = true;
    example.add(git);
    example.add(rule("/home/ann/src/project/.git/hooks", Access::readonly));
    example.add(rule("/home/ann/src/project/.env", Access::masked));
    example.add(rule("/home/ann/src/project/absent", Access::masked));
    View view = example.view();
    EXPECT_TRUE(has(view, Act::whitelist, "/home/ann/src/project"));
    EXPECT_TRUE(has(view, Act::blacklist, "/home/ann/src/project/.env"));
    EXPECT_FALSE(has(view, Act::blacklist, "/home/ann/src/project/absent"));
    // The entry that protects the name of a directory comes before the entries for its content.
    size_t held = position(view, Act::read_only, "/home/ann/src/project/.git");
    size_t given_back = position(view, Act::read_write, "/home/ann/src/project/.git");
    size_t hooks = position(view, Act::read_only, "/home/ann/src/project/.git/hooks");
    EXPECT_LT(held, given_back);
    EXPECT_LT(given_back, hooks);
    EXPECT_LT(hooks, view.entries.size());
}

TEST(FirejailView, ADirectoryOfSomebodyElsesIsNotHeld) {
    Case example;
    example.add(rule("/data/lab/project", Access::writable));
    PathRule held = rule("/usr/bin", Access::writable);
    held.holds_name = true;
    example.plan.rules[0].access = Access::writable;  // /usr, whose parts belong to root
    example.add(held);
    EXPECT_FALSE(has(example.view(), Act::read_only, "/usr/bin"));
}

TEST(FirejailView, FilesOfAnEmptyHomeAreShownReadOnly) {
    Case example;
    example.add(rule("/home/ann/.vimrc", Access::readonly));
    View view = example.view();
    EXPECT_TRUE(has(view, Act::whitelist, "/home/ann/.vimrc"));
    EXPECT_TRUE(has(view, Act::read_only, "/home/ann/.vimrc"));
    EXPECT_FALSE(has(view, Act::whitelist, "/home/ann/" + std::string(kNothing)));
}

TEST(FirejailView, WhatFirejailLaysItselfIsCopied) {
    Case example;
    example.add(rule("/home/ann/.bashrc", Access::readonly));
    example.plan.mounts = {Mount{
        .kind = MountKind::symlink, .target = Path::known("/home/ann/.profile"), .source = "dot/profile"}};
    View view = example.view();
    EXPECT_FALSE(has(view, Act::whitelist, "/home/ann/.bashrc"));
    EXPECT_EQ(view.copied, std::vector{Path::known("/home/ann/.bashrc")});
    ASSERT_EQ(view.links.size(), 1u);
    EXPECT_EQ(view.links[0].target, "dot/profile");
}

TEST(FirejailView, AProjectInVarTmpIsNotBuriedUnderATmpfs) {
    Case example;
    example.add(rule("/var/tmp/project", Access::writable));
    View view = example.view();
    EXPECT_TRUE(view.keeps_var_tmp);
    EXPECT_FALSE(has(view, Act::whitelist, "/var/tmp"));
    EXPECT_TRUE(has(view, Act::whitelist, "/var/tmp/project"));
}

TEST(FirejailView, AWholeHomeThatCanBeReadHasWritableParts) {
    Case example;
    example.plan.rules[4] = rule("/home/ann", Access::readonly);
    example.add(rule("/home/ann/src/project", Access::writable));
    example.add(rule("/home/ann/.vimrc", Access::hidden));
    View view = example.view();
    EXPECT_FALSE(is_emptied(view, "/home/ann"));
    EXPECT_FALSE(has(view, Act::whitelist, "/home/ann"));
    EXPECT_LT(position(view, Act::read_only, "/home/ann"),
              position(view, Act::read_write, "/home/ann/src/project"));
    EXPECT_TRUE(has(view, Act::read_write, "/home/ann/src/project"));
    EXPECT_TRUE(has(view, Act::blacklist, "/home/ann/.vimrc"));
}

TEST(FirejailView, ATopThatARuleShowsIsLeftAsItIs) {
    Case example;
    example.add(rule("/srv", Access::readonly));
    example.add(rule("/data", Access::writable));
    View view = example.view();
    EXPECT_FALSE(is_emptied(view, "/srv"));
    EXPECT_TRUE(has(view, Act::read_only, "/srv"));
    EXPECT_FALSE(is_emptied(view, "/data"));
    EXPECT_FALSE(has(view, Act::read_only, "/data"));
}

TEST(FirejailView, AnotherHomeIsShownWhereSomebodyAsksForIt) {
    Case example;
    PathRule shared = rule("/home/bob/shared", Access::readonly);
    example.add(shared);
    EXPECT_FALSE(example.view().shows_all_homes);
    EXPECT_FALSE(has(example.view(), Act::whitelist, "/home/bob/shared"));
    example.plan.rules.back().reason.origin.layer = config::Layer::user;
    std::ranges::find(example.plan.rules, shared.path, &PathRule::path)->reason.origin.layer =
        config::Layer::user;
    View view = example.view();
    EXPECT_TRUE(view.shows_all_homes);
    EXPECT_TRUE(has(view, Act::whitelist, "/home/bob/shared"));
}

TEST(FirejailView, StubsAndPartsOfEtcAreClosed) {
    Case example;
    example.plan.mounts = {
        Mount{.kind = MountKind::bind_readonly,
              .target = Path::known("/usr/sbin/sendmail"),
              .source = "/usr/bin/agent-sandbox"},
        Mount{.kind = MountKind::tmpfs, .target = Path::known("/run/host/etc/ssl")},
        Mount{.kind = MountKind::empty_file, .target = Path::known("/run/host/etc/passwd")},
        Mount{.kind = MountKind::bind_readonly, .target = Path::known("/usr"), .source = "/usr"}};
    View view = example.view();
    EXPECT_TRUE(has(view, Act::blacklist, "/usr/sbin/sendmail"));
    EXPECT_TRUE(has(view, Act::blacklist, "/etc/ssl"));
    EXPECT_FALSE(has(view, Act::blacklist, "/etc/passwd"));
    EXPECT_TRUE(view.filters_accounts);
    EXPECT_FALSE(has(view, Act::blacklist, "/usr"));
}

TEST(FirejailView, NodesOfGraphicsThatThePlanDoesNotNameAreCovered) {
    Case example;
    example.plan.mounts = {Mount{.kind = MountKind::bind_device,
                                 .target = Path::known("/dev/dri/renderD128"),
                                 .source = "/dev/dri/renderD128"}};
    View view = example.view();
    EXPECT_TRUE(view.shows_graphics);
    EXPECT_TRUE(has(view, Act::blacklist, "/dev/dri/card0"));
    EXPECT_FALSE(has(view, Act::blacklist, "/dev/dri/renderD128"));
}

TEST(FirejailView, ADeviceThatCannotBeLetInIsRefusedWhereItWasAskedFor) {
    Case example;
    example.plan.mounts = {Mount{.kind = MountKind::bind_device,
                                 .target = Path::known("/dev/fuse"),
                                 .source = "/dev/fuse",
                                 .reason = {"devices.allow", {}}}};
    base::Result<View> refused = example.make();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("/dev/fuse"), std::string::npos);
    example.plan.mounts[0].reason.why = "a tool of the graphics driver";
    EXPECT_TRUE(example.make());
}

}  // namespace
