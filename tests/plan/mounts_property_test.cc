// SPDX-License-Identifier: MIT
// For generated rule sets, the rendered mounts make visible or writable exactly what the rules specify. The
// test replays the mounts in a model of the kernel: a mount covers everything at and below its target, and
// later mounts cover earlier ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/rules.h"

namespace {

using base::Path;
using plan::Access;
using plan::Backing;
using plan::Mount;
using plan::MountKind;
using plan::PathRule;

// A tree of depth four with two directories and a file in each.
void grow(host::MemoryTree& tree, std::vector<Path>& all, const Path& at, int depth) {
    if (depth == 0) return;
    for (const char* name : {"a", "ab"}) {
        Path path = at / name;
        tree.add(path, host::Node{.kind = host::Kind::directory, .mode = 0755});
        all.push_back(path);
        grow(tree, all, path, depth - 1);
    }
    Path file = at / "f";
    tree.add(file, host::Node{.kind = host::Kind::file, .mode = 0644}, "content");
    all.push_back(file);
}

// Only for the host's content: in its own places the jail may write anything.
struct View {
    bool shows_host = false;
    bool is_writable = false;
};

View replay(const std::vector<Mount>& mounts, const Path& path) {
    for (size_t i = mounts.size(); i-- > 0;) {
        const Mount& mount = mounts[i];
        if (mount.kind == MountKind::seal || mount.kind == MountKind::directory ||
            !path.is_within(mount.target))
            continue;
        bool is_sealed =
            std::any_of(mounts.begin() + static_cast<long>(i), mounts.end(), [&](const Mount& later) {
                return later.kind == MountKind::seal && later.target == mount.target;
            });
        switch (mount.kind) {
            case MountKind::bind_readonly:
                return {.shows_host = true, .is_writable = false};
            case MountKind::bind_writable:
                return {.shows_host = true, .is_writable = !is_sealed};
            default:
                return {};
        }
    }
    return {};
}

View demanded(const plan::Rules& rules, const Path& path) {
    const PathRule* rule = rules.decide(path);
    if (rule == nullptr) return {};
    bool is_visible = rule->access == Access::readonly || rule->access == Access::writable;
    bool shows_host = is_visible && rule->backing == Backing::host;
    return {.shows_host = shows_host, .is_writable = shows_host && rule->access == Access::writable};
}

TEST(Mounts, ShowExactlyWhatTheRulesSay) {
    host::MemoryTree tree;
    std::vector<Path> all;
    grow(tree, all, Path(), 4);
    size_t compared = 0, writable = 0, shown = 0;
    for (unsigned seed = 0; seed < 4'000; ++seed) {
        std::mt19937 random(seed);
        auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
        plan::Rules rules;
        for (size_t i = 0, n = 1 + pick(10); i < n; ++i) {
            const Path& path = all[pick(all.size())];
            bool is_file = path.name() == "f";
            PathRule rule{.path = path, .access = static_cast<Access>(pick(4))};
            if (rule.access == Access::masked && !is_file) rule.access = Access::hidden;
            if (!is_file && rule.access >= Access::readonly && pick(4) == 0)
                rule.backing = Backing::ephemeral;
            rule.holds_name = pick(5) == 0;
            rules.add(rule);
        }
        ASSERT_TRUE(rules.settle());
        std::vector<Mount> mounts = plan::render_rules(rules, tree);
        for (const Path& path : all) {
            View should = demanded(rules, path);
            View is = replay(mounts, path);
            ASSERT_EQ(should.shows_host, is.shows_host) << path.str() << " with seed " << seed;
            ASSERT_EQ(should.is_writable, is.is_writable) << path.str() << " with seed " << seed;
            ++compared;
            writable += is.is_writable;
            shown += is.shows_host;
        }
    }
    EXPECT_GT(writable, compared / 50);
    EXPECT_GT(shown, compared / 20);
}

TEST(Mounts, AParentNeverComesBehindItsChild) {
    host::MemoryTree tree;
    std::vector<Path> all;
    grow(tree, all, Path(), 4);
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        plan::Rules rules;
        for (int i = 0; i < 12; ++i) {
            rules.add({.path = all[random() % all.size()],
                       .access = random() % 2 ? Access::readonly : Access::writable});
        }
        ASSERT_TRUE(rules.settle());
        std::vector<Mount> mounts = plan::render_rules(rules, tree);
        for (size_t i = 0; i < mounts.size(); ++i) {
            for (size_t j = i + 1; j < mounts.size(); ++j) {
                if (mounts[i].kind == MountKind::seal || mounts[j].kind == MountKind::seal) continue;
                ASSERT_FALSE(mounts[i].target.is_strictly_within(mounts[j].target));
            }
        }
    }
}

}  // namespace
