// SPDX-License-Identifier: MIT
// Random operations on a random tree, through a real overlay. Then the layer is applied: the project must be
// what a process in the overlay saw. Every third apply is killed on the way, and resumed or undone. Or the
// layer is copied, changed again, and restored through the overlay or at rest: the tree must be as when it
// was copied.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include "base/rounds.h"
#include "base/text.h"
#include "layers/checkpoints/copy.h"
#include "layers/checkpoints/restore.h"
#include "layers/layer_trees.h"
#include "layers/random_actor.h"
#include "layers/watched_calls.h"

namespace {

namespace fs = std::filesystem;
using testing_support::Actor;
using testing_support::Answer;
using testing_support::Fate;
using testing_support::LayerTrees;
using testing_support::picture;
using testing_support::WatchedCall;
using testing_support::WatchedChild;

void write_text(const char* path, const std::string& text) {
    base::Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    if (!file || !base::write_all(file.get(), text)) ::_exit(90);
}

// In a child: the overlay exists only there. Zero, or a status that is an error.
int mount_overlay(const LayerTrees& trees, const std::string& mounted) {
    const std::string uid = std::to_string(::getuid()), gid = std::to_string(::getgid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 91;
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", "0 " + uid + " 1");
    write_text("/proc/self/gid_map", "0 " + gid + " 1");
    fs::create_directory(mounted);
    const std::string options = base::format("userxattr,lowerdir={},upperdir={},workdir={}", trees.project(),
                                             trees.upper(), trees.root() + "/work");
    return ::mount("overlay", mounted.c_str(), "overlay", 0, options.c_str()) == 0 ? 0 : 92;
}

// Stores what a process inside saw.
int act_in_overlay(const LayerTrees& trees, unsigned seed) {
    const std::string mounted = trees.root() + "/mounted";
    if (int status = mount_overlay(trees, mounted); status != 0) return status;
    Actor(mounted, seed).act(40);
    std::ofstream(trees.root() + "/seen", std::ios::binary) << picture(mounted);
    return 0;
}

int in_child(const std::function<int()>& body) {
    pid_t child = ::fork();
    if (child == 0) {
        int status = 98;
        try {
            status = body();
        } catch (...) {
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int apply_all(const LayerTrees& trees) {
    auto journal = trees.apply();
    if (!journal) std::fprintf(stderr, "%s\n", journal.error().line().c_str());
    return journal ? 0 : 1;
}

TEST(RandomLayers, AreAppliedAsTheOverlayShowedThem) {
    constexpr unsigned kRounds = test::rounds(1000);
    unsigned killed = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
        LayerTrees trees;
        Actor(trees.project(), round).act(60);
        const std::string before = picture(trees.project());
        ASSERT_EQ(in_child([&] { return act_in_overlay(trees, round + 5000); }), 0) << "round " << round;
        const std::string seen = *base::read_file(trees.root() + "/seen");
        ASSERT_EQ(picture(trees.project()), before) << "the overlay wrote to the project, round " << round;

        const int stop = round % 3 == 0 ? 20 + static_cast<int>(round * 7 % 120) : 0;
        WatchedChild child;
        int status = stop == 0 ? in_child([&] { return apply_all(trees); })
                               : child.run([&] { return apply_all(trees); },
                                           [&](const WatchedCall& call) {
                                               return Answer{call.index == stop ? Fate::kill : Fate::proceed};
                                           });
        std::string expected = seen;
        if (status == -1) {
            ++killed;
            const bool resumes = round % 2 == 0;
            if (layers::is_interrupted(trees.applied())) {
                ASSERT_TRUE(resumes ? layers::resume(trees.applied()) : layers::undo(trees.applied()))
                    << round;
            }
            if (!layers::is_done(trees.applied())) expected = before;
        } else {
            EXPECT_EQ(status, 0) << "round " << round;
        }
        EXPECT_EQ(picture(trees.project()), expected) << "round " << round;
        if (status == 0 && layers::is_done(trees.applied()) && round % 2 == 0) {
            ASSERT_TRUE(layers::undo(trees.applied())) << round;
            EXPECT_EQ(picture(trees.project()), before) << "undone, round " << round;
        }
        if (HasFailure()) break;
    }
    EXPECT_GT(killed, kRounds / 10);
}

bool copy(const std::string& from, const std::string& to, const std::string& previous = "") {
    fs::create_directory(to);
    base::Fd source = LayerTrees::open(from), target = LayerTrees::open(to);
    base::Fd before = previous.empty() ? base::Fd() : LayerTrees::open(previous);
    base::Status copied =
        layers::copy_upper({.from = source.get(), .to = target.get(), .previous = before.get(), .end = {}});
    if (!copied) std::fprintf(stderr, "%s\n", copied.error().line().c_str());
    return copied.ok();
}

// Stores what was seen when the layer was copied, and after each of two restorations.
int restore_in_overlay(const LayerTrees& trees, unsigned seed) {
    const std::string mounted = trees.root() + "/mounted";
    const std::string first = trees.root() + "/first", second = trees.root() + "/second";
    if (int status = mount_overlay(trees, mounted); status != 0) return status;
    auto see = [&](const char* name) {
        std::ofstream(trees.root() + name, std::ios::binary) << picture(mounted);
    };
    auto restore = [&](const std::string& checkpoint) {
        base::Fd mount = LayerTrees::open(mounted), upper = LayerTrees::open(trees.upper()),
                 then = LayerTrees::open(checkpoint), project = LayerTrees::open(trees.project());
        auto restored = layers::restore_through(
            {.mount = mount.get(), .upper = upper.get(), .checkpoint = then.get(), .project = project.get()});
        if (!restored) std::fprintf(stderr, "%s\n", restored.error().line().c_str());
        return restored.ok();
    };
    Actor(mounted, seed).act(30);
    see("/then");
    if (!copy(trees.upper(), first)) return 93;
    Actor(mounted, seed + 1).act(30);
    see("/later");
    if (!copy(trees.upper(), second, first)) return 94;
    if (!restore(first)) return 95;
    see("/back");
    if (!restore(second)) return 96;
    see("/forward");
    return 0;
}

TEST(RandomLayers, AreRestoredThroughTheOverlayAsTheyWere) {
    constexpr unsigned kRounds = test::rounds(400);
    for (unsigned round = 0; round < kRounds && !HasFailure(); ++round) {
        LayerTrees trees;
        Actor(trees.project(), round).act(60);
        const std::string before = picture(trees.project());
        ASSERT_EQ(in_child([&] { return restore_in_overlay(trees, round * 10 + 7); }), 0) << round;
        auto seen = [&](const char* name) { return *base::read_file(trees.root() + name); };
        EXPECT_EQ(seen("/back"), seen("/then")) << "round " << round;
        EXPECT_EQ(seen("/forward"), seen("/later")) << "round " << round;
        EXPECT_EQ(picture(trees.project()), before) << "the project changed, round " << round;
    }
}

}  // namespace
