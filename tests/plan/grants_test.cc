// SPDX-License-Identifier: MIT
#include "plan/grants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/rules.h"

namespace {

using base::Path;
using plan::Access;
using plan::Backing;
using plan::Grant;
using plan::GrantKind;
using plan::Grants;
using plan::Mount;
using plan::MountKind;
using plan::PathRule;

constexpr std::string_view kTree = R"(d /usr/bin
l /bin usr/bin
f /etc/hosts
f /etc/passwd
f /etc/secret/key 0640
f /etc/secret/other
d /etc/agent-sandbox
f /proc/keys
c /dev/null
c /dev/tty
c /dev/ptmx
c /dev/pts/7
c /dev/nvidia0
d /dev/shm
d /home/ann/.ssh
f /home/ann/.bashrc
d /home/ann/.config/agent-sandbox
d /home/ann/.config/tool
l /home/ann/link .ssh
d /home/ann/app/src
f /home/ann/app/.env
d /home/ann/app/.git/hooks
d /home/ann/state
)";

struct Case {
    std::vector<PathRule> rules;
    std::vector<Mount> mounts = {};
    std::string tree = std::string(kTree);
    std::vector<std::string> private_etc = {};
    std::vector<std::string> kept = {};
    std::vector<std::string> made = {};
    bool private_ipc = true;
};

Grants granted(const Case& example) {
    auto tree = host::MemoryTree::parse(example.tree);
    if (!tree) ADD_FAILURE() << tree.error().line();
    plan::Rules rules;
    for (const PathRule& rule : example.rules) rules.add(rule);
    EXPECT_TRUE(rules.settle());
    auto paths = [](const std::vector<std::string>& texts) {
        std::vector<Path> all;
        for (const std::string& text : texts) all.push_back(Path::known(text));
        return all;
    };
    std::vector<plan::NewDirectory> made;
    for (const std::string& text : example.made) made.push_back({Path::known(text), {}});
    return plan::make_grants({.rules = rules.sorted(),
                              .mounts = example.mounts,
                              .tree = *tree,
                              .project = Path::known("/home/ann/app"),
                              .private_ipc = example.private_ipc,
                              .private_etc = paths(example.private_etc),
                              .kept = paths(example.kept),
                              .new_directories = made});
}

PathRule rule(std::string_view path, Access access, Backing backing = Backing::host) {
    return {.path = Path::known(path), .access = access, .backing = backing};
}

// "read /usr, write /home/ann/app"
std::string text_of(const Grants& grants) {
    std::string text;
    for (const Grant& grant : grants.grants) {
        text += text.empty() ? "" : ", ";
        text += std::string(plan::to_text(grant.kind)) + " " + grant.path.str();
    }
    return text;
}
std::string paths_of(const std::vector<PathRule>& rules) {
    std::string text;
    for (const PathRule& rule : rules) text += (text.empty() ? "" : ", ") + rule.path.str();
    return text;
}

TEST(Grants, WhatHoldsNothingClosedIsGrantedAsAWhole) {
    Grants grants = granted({{rule("/usr", Access::readonly), rule("/home/ann/state", Access::writable)}});
    EXPECT_EQ(text_of(grants), "write /home/ann/state, read /usr");
}

TEST(Grants, SomethingWritableInSomethingReadableAddsToIt) {
    Grants grants =
        granted({{rule("/home/ann", Access::readonly), rule("/home/ann/state", Access::writable)}});
    EXPECT_EQ(text_of(grants), "read /home/ann, write /home/ann/state");
}

TEST(Grants, AHiddenPathIsGoneAroundAndLinksNeedNothing) {
    Grants grants = granted({{rule("/home/ann", Access::readonly), rule("/home/ann/.ssh", Access::hidden)}});
    EXPECT_EQ(text_of(grants),
              "read /home/ann/.bashrc, read /home/ann/.config, read /home/ann/app, read /home/ann/state");
}

TEST(Grants, ADeepHiddenPathTakesTheDirectoriesAboveItAlong) {
    Grants grants =
        granted({{rule("/home/ann", Access::writable), rule("/home/ann/.config/tool", Access::hidden)}});
    EXPECT_EQ(text_of(grants),
              "write /home/ann/.bashrc, write /home/ann/.config/agent-sandbox, write /home/ann/.ssh, "
              "write /home/ann/app, write /home/ann/state");
}

// Otherwise the jail could create it and find there what only the sandbox or the user may put there.
TEST(Grants, AHiddenNameThatIsMissingCantBeMade) {
    PathRule hidden = rule("/home/ann/.gnupg", Access::hidden);
    Grants grants = granted({{rule("/home/ann", Access::writable), hidden}});
    EXPECT_EQ(text_of(grants).find("write /home/ann,"), std::string::npos);
    grants = granted({{rule("/home/ann", Access::readonly), hidden}});
    EXPECT_EQ(text_of(grants), "read /home/ann");
    // If the launch itself creates the name, the directory above is not granted as a whole.
    grants =
        granted({.rules = {rule("/home/ann", Access::readonly), hidden}, .made = {"/home/ann/.gnupg/x"}});
    EXPECT_EQ(text_of(grants).find("read /home/ann,"), std::string::npos);
}

TEST(Grants, TheWritableProjectIsGrantedAsAWholeAndSaysWhatThatCosts) {
    Grants grants =
        granted({{rule("/home/ann/app", Access::writable), rule("/home/ann/app/.env", Access::masked),
                  rule("/home/ann/app/.git/hooks", Access::readonly)}});
    EXPECT_EQ(text_of(grants), "write /home/ann/app");
    EXPECT_EQ(paths_of(grants.unprotected), "/home/ann/app/.git/hooks");
    EXPECT_EQ(paths_of(grants.unmasked), "/home/ann/app/.env");
}

TEST(Grants, WhatIsHiddenInTheProjectStaysHidden) {
    Grants grants = granted(
        {{rule("/home/ann/app", Access::writable), rule("/home/ann/app/.git/hooks", Access::hidden)}});
    EXPECT_EQ(text_of(grants), "write /home/ann/app/.env, write /home/ann/app/src");
}

TEST(Grants, AProjectForReadingIsGoneAroundWhatIsMasked) {
    Grants grants =
        granted({{rule("/home/ann/app", Access::readonly), rule("/home/ann/app/.env", Access::masked)}});
    EXPECT_EQ(text_of(grants), "read /home/ann/app/.git, read /home/ann/app/src");
    EXPECT_TRUE(grants.unmasked.empty());
}

TEST(Grants, AProjectForReadingInAWritableHomeStaysForReading) {
    Grants grants = granted({{rule("/home/ann", Access::writable), rule("/home/ann/app", Access::readonly)}});
    EXPECT_NE(text_of(grants).find("read /home/ann/app"), std::string::npos);
    EXPECT_EQ(text_of(grants).find("write /home/ann,"), std::string::npos);
    EXPECT_TRUE(grants.unprotected.empty());
}

TEST(Grants, TheSandboxesOwnConfigurationIsKeptInAWritableHome) {
    const std::vector<PathRule> rules = {rule("/home/ann", Access::writable),
                                         rule("/home/ann/.config/agent-sandbox", Access::readonly)};
    Grants grants = granted({.rules = rules, .kept = {"/home/ann/.config/agent-sandbox"}});
    EXPECT_NE(text_of(grants).find("read /home/ann/.config/agent-sandbox"), std::string::npos);
    EXPECT_NE(text_of(grants).find("write /home/ann/.config/tool"), std::string::npos);
    EXPECT_TRUE(grants.unprotected.empty());
    EXPECT_EQ(text_of(granted({.rules = rules})), "write /home/ann");
}

TEST(Grants, AnAdministratorsReadOnlyPathIsKeptToo) {
    PathRule kept = rule("/home/ann/.config/tool", Access::readonly);
    kept.reason.origin.layer = config::Layer::admin;
    Grants grants = granted({{rule("/home/ann", Access::writable), kept}});
    EXPECT_NE(text_of(grants).find("read /home/ann/.config/tool"), std::string::npos);
    EXPECT_TRUE(grants.unprotected.empty());
}

// This backend can't provide an empty home or a private /tmp: nothing is granted there, and the host's
// content there stays closed.
TEST(Grants, PlacesOfTheJailsOwnGrantNothing) {
    Grants grants = granted(
        {{rule("/home/ann", Access::writable, Backing::ephemeral),
          rule("/tmp", Access::writable, Backing::ephemeral), rule("/home/ann/state", Access::writable)}});
    EXPECT_EQ(text_of(grants), "write /home/ann/state");
}

TEST(Grants, EtcIsTheHostsOwnWithoutWhatIsPrivate) {
    Grants grants = granted(
        {.rules = {rule("/etc", Access::readonly, Backing::assembled)}, .private_etc = {"/etc/secret/key"}});
    EXPECT_EQ(text_of(grants), "read /etc/hosts, read /etc/passwd, read /etc/secret/other");
}

TEST(Grants, DevicesAreNamedOneByOneAndNoTerminalIsAmongThem) {
    const Mount gpu{
        .kind = MountKind::bind_device, .target = Path::known("/dev/nvidia0"), .source = "/dev/nvidia0"};
    const Mount memory{
        .kind = MountKind::bind_device, .target = Path::known("/dev/shm"), .source = "/dev/shm"};
    Case example{.rules = {rule("/dev", Access::writable, Backing::assembled),
                           rule("/dev/nvidia0", Access::writable, Backing::assembled)},
                 .mounts = {gpu, memory}};
    EXPECT_EQ(text_of(granted(example)), "use /dev/null, use /dev/nvidia0, use /dev/tty");
    example.private_ipc = false;
    EXPECT_EQ(text_of(granted(example)), "use /dev/null, use /dev/nvidia0, write /dev/shm, use /dev/tty");
    example.rules.push_back(rule("/dev/tty", Access::hidden));
    example.rules.push_back(rule("/dev/shm", Access::hidden));
    EXPECT_EQ(text_of(granted(example)), "use /dev/null, use /dev/nvidia0");
}

TEST(Grants, ProcIsReadAsAWholeAndSaysWhatThatShows) {
    Grants grants = granted({{rule("/proc", Access::writable, Backing::assembled),
                              rule("/proc/keys", Access::masked, Backing::assembled)}});
    EXPECT_EQ(text_of(grants), "read /proc");
    EXPECT_EQ(paths_of(grants.unmasked), "/proc/keys");
}

TEST(Grants, FilesThatCantBeLaidAreToldOf) {
    Case example{.rules = {rule("/home/ann", Access::writable)}};
    example.mounts = {
        {.kind = MountKind::private_file, .target = Path::known("/home/ann/.gitconfig"), .source = "text"},
        {.kind = MountKind::bind_writable, .target = Path::known("/home/ann/.cache"), .source = "/elsewhere"},
        {.kind = MountKind::bind_writable, .target = Path::known("/home/ann"), .source = "/home/ann"},
        {.kind = MountKind::file, .target = Path::known("/run/agent-sandbox/summary"), .source = "text"}};
    Grants grants = granted(example);
    ASSERT_EQ(grants.missing.size(), 2u);
    EXPECT_EQ(grants.missing[0].path.str(), "/home/ann/.gitconfig");
    EXPECT_EQ(grants.missing[1].path.str(), "/home/ann/.cache");
}

TEST(Grants, ADirectoryThatIsTooLargeToGoAroundIsLeftOut) {
    std::string tree = "d /data/many/hidden\n";
    for (size_t i = 0; i < plan::kMostEntries; ++i) tree += "f /data/many/" + std::to_string(i) + "\n";
    tree += "f /data/few\n";
    Grants grants =
        granted({.rules = {rule("/data", Access::readonly), rule("/data/many/hidden", Access::hidden)},
                 .tree = tree});
    EXPECT_EQ(text_of(grants), "read /data/few");
    ASSERT_EQ(grants.notes.size(), 1u);
    EXPECT_NE(grants.notes[0].text.find("/data/many"), std::string::npos);
}

// ---- For generated rule sets

void grow(host::MemoryTree& tree, std::vector<Path>& all, const Path& at, int depth) {
    if (depth == 0) return;
    for (const char* name : {"a", "ab", "a-b"}) {
        Path path = at / name;
        tree.add(path, host::Node{.kind = host::Kind::directory, .mode = 0755});
        all.push_back(path);
        grow(tree, all, path, depth - 1);
    }
    Path file = at / "f";
    tree.add(file, host::Node{.kind = host::Kind::file, .mode = 0644}, "content");
    all.push_back(file);
}

bool is_granted(const Grants& grants, const Path& path, GrantKind least) {
    return std::ranges::any_of(
        grants.grants, [&](const Grant& grant) { return grant.kind >= least && path.is_within(grant.path); });
}

bool shows_host(const PathRule* rule) {
    return rule != nullptr && rule->access >= Access::readonly && rule->backing == Backing::host;
}

// A directory that contains something closed can't be granted itself.
bool holds_something_else(const std::vector<PathRule>& rules, const Path& path) {
    return std::ranges::any_of(rules,
                               [&](const PathRule& rule) { return rule.path.is_strictly_within(path); });
}

TEST(Grants, NothingClosedIsGrantedAndNothingOpenIsForgotten) {
    host::MemoryTree tree;
    std::vector<Path> all;
    grow(tree, all, Path(), 4);
    const Path project = Path::known("/a/ab");
    size_t closed = 0, readable = 0, writable = 0;
    for (unsigned seed = 0; seed < 2'000; ++seed) {
        std::mt19937 random(seed);
        auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
        plan::Rules rules;
        for (size_t i = 0, n = 1 + pick(10); i < n; ++i) {
            PathRule rule{.path = all[pick(all.size())], .access = static_cast<Access>(pick(4))};
            if (rule.access >= Access::readonly && pick(5) == 0) rule.backing = Backing::ephemeral;
            rules.add(rule);
        }
        ASSERT_TRUE(rules.settle());
        Grants grants =
            plan::make_grants({.rules = rules.sorted(), .mounts = {}, .tree = tree, .project = project});
        auto is_listed = [](const std::vector<PathRule>& list, const Path& path) {
            return std::ranges::any_of(list, [&](const PathRule& rule) { return path.is_within(rule.path); });
        };
        for (const Path& path : all) {
            const PathRule* rule = rules.decide(path);
            bool may_read = shows_host(rule);
            bool may_write = may_read && rule->access == Access::writable;
            bool reads = is_granted(grants, path, GrantKind::read);
            bool writes = is_granted(grants, path, GrantKind::write);
            if (!may_read) {
                ASSERT_TRUE(!reads || is_listed(grants.unmasked, path)) << path.str() << ", seed " << seed;
                ++closed;
            } else if (!holds_something_else(rules.sorted(), path)) {
                ASSERT_TRUE(reads) << path.str() << ", seed " << seed;
                ++readable;
            }
            if (may_read && !may_write) {
                ASSERT_TRUE(!writes || is_listed(grants.unprotected, path))
                    << path.str() << ", seed " << seed;
            }
            if (may_write && !holds_something_else(rules.sorted(), path)) {
                ASSERT_TRUE(writes) << path.str() << ", seed " << seed;
                ++writable;
            }
        }
        for (const PathRule& rule : grants.unmasked) ASSERT_TRUE(rule.path.is_within(project));
    }
    EXPECT_GT(closed, 10'000u);
    EXPECT_GT(readable, 10'000u);
    EXPECT_GT(writable, 5'000u);
}

}  // namespace
