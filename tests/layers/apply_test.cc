// SPDX-License-Identifier: MIT
// An apply is interrupted at each of its system calls: killed, or with an error. Whole trees are compared.
#include "layers/apply.h"

#include <gtest/gtest.h>
#include <linux/fs.h>

#include "layers/layer_trees.h"
#include "layers/watched_calls.h"

namespace {

namespace fs = std::filesystem;

using testing_support::Answer;
using testing_support::Fate;
using testing_support::LayerTrees;
using testing_support::picture;
using testing_support::WatchedCall;
using testing_support::WatchedChild;

struct Expected {
    std::string before, after;
    int calls = 0;
};

Expected expected() {
    LayerTrees trees;
    trees.fill();
    Expected expected{.before = picture(trees.project())};
    WatchedChild child;
    EXPECT_EQ(child.run([&] { return trees.apply() ? 0 : 1; }, [](const WatchedCall&) { return Answer{}; }),
              0);
    expected.after = picture(trees.project());
    expected.calls = child.calls();
    return expected;
}

uint64_t inode_of(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

TEST(Apply, MakesTheProjectAsTheLayerShowsIt) {
    LayerTrees trees;
    trees.fill();
    auto journal = trees.apply();
    ASSERT_TRUE(journal) << journal.error().line();
    EXPECT_EQ(*base::read_file(trees.project("src/f1")), "text 1 and more");
    EXPECT_FALSE(fs::exists(trees.project("src/f3")));
    EXPECT_FALSE(fs::exists(trees.project("gone")));
    EXPECT_FALSE(fs::exists(trees.project("shut_gone")));
    EXPECT_EQ(*base::read_file(trees.project("to_file")), "now a file");
    EXPECT_EQ(*base::read_file(trees.project("to_directory/in")), "in");
    EXPECT_EQ(fs::read_symlink(trees.project("link")), "/etc/passwd");
    EXPECT_EQ(*base::read_file(trees.project("shut/more")), "more");
    EXPECT_EQ(fs::status(trees.project("shut")).permissions(), fs::perms(0555));
    EXPECT_EQ(fs::status(trees.project("new/a")).permissions(), fs::perms(0555));
    EXPECT_EQ(fs::status(trees.project("src/f2")).permissions(), fs::perms(0755));
    EXPECT_EQ(fs::hard_link_count(trees.project("new/a/b/q")), 2u);
    EXPECT_FALSE(fs::exists(trees.project("replaced/r2")));
    EXPECT_TRUE(fs::exists(trees.project("replaced/r1")));
    EXPECT_TRUE(layers::is_done(trees.applied()));
    auto left = trees.changes();
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->empty()) << left->front().path;
}

TEST(Apply, KeepsTimesAndAttributesAndDropsMarksOfTheKernel) {
    LayerTrees trees;
    trees.write(trees.upper("f"), "x", 04755);
    const struct timespec times[] = {{100, 0}, {200, 0}};
    ASSERT_EQ(::setxattr(trees.upper("f").c_str(), "user.note", "hi", 2, 0), 0);
    ASSERT_EQ(::setxattr(trees.upper("f").c_str(), "user.overlay.origin", "", 0, 0), 0);
    ASSERT_EQ(::utimensat(AT_FDCWD, trees.upper("f").c_str(), times, 0), 0);
    ASSERT_TRUE(trees.apply());
    struct stat status;
    ASSERT_EQ(::stat(trees.project("f").c_str(), &status), 0);
    EXPECT_EQ(status.st_mtim.tv_sec, 200);
    EXPECT_EQ(status.st_mode & 07777, 0755u);
    char value[8] = {};
    EXPECT_EQ(::getxattr(trees.project("f").c_str(), "user.note", value, sizeof value), 2);
    EXPECT_LT(::getxattr(trees.project("f").c_str(), "user.overlay.origin", value, sizeof value), 0);
}

TEST(Apply, KeepsTheAclsOfFilesAndDirectories) {
    constexpr const char* kDefault = "system.posix_acl_default";
    LayerTrees trees;
    trees.write(trees.project("old"), "old");
    trees.write(trees.upper("old"), "new");
    trees.write(trees.upper("directory/new"), "new");
    if (!LayerTrees::set_acl(trees.upper("old"))) GTEST_SKIP() << "the file system has no ACLs";
    ASSERT_TRUE(LayerTrees::set_acl(trees.upper("directory")));
    ASSERT_TRUE(LayerTrees::set_acl(trees.upper("directory"), kDefault));
    fs::permissions(trees.upper("directory"), fs::perms(0700), fs::perm_options::add);
    ASSERT_TRUE(trees.apply());
    EXPECT_TRUE(LayerTrees::has_acl(trees.project("old")));
    EXPECT_TRUE(LayerTrees::has_acl(trees.project("directory")));
    EXPECT_TRUE(LayerTrees::has_acl(trees.project("directory"), kDefault));
    EXPECT_FALSE(LayerTrees::has_acl(trees.project("directory/new")));
    EXPECT_EQ(fs::status(trees.project("old")).permissions(), fs::status(trees.upper("old")).permissions());
    ASSERT_TRUE(layers::undo(trees.applied()));
    EXPECT_FALSE(LayerTrees::has_acl(trees.project("old")));
}

TEST(Apply, RemovesTheSetUserIdBitOfAFileThatMoreUsersMayRun) {
    LayerTrees trees;
    for (const char* name : {"wider", "narrower"}) {
        trees.write(trees.project(name), "x", 04750);
        trees.write(trees.upper(name), "x", 0750);
    }
    fs::permissions(trees.upper("wider"), fs::perms(0755));
    fs::permissions(trees.upper("narrower"), fs::perms(0700));
    ASSERT_TRUE(trees.apply());
    EXPECT_EQ(fs::status(trees.project("wider")).permissions(), fs::perms(0755));
    EXPECT_EQ(fs::status(trees.project("narrower")).permissions(), fs::perms(04700)) << "the control";
}

TEST(Apply, KeepsHolesOfASparseFile) {
    LayerTrees trees;
    trees.write(trees.upper("sparse"), "x");
    ASSERT_EQ(::truncate(trees.upper("sparse").c_str(), 1ll << 40), 0);
    ASSERT_TRUE(trees.apply());
    struct stat status;
    ASSERT_EQ(::stat(trees.project("sparse").c_str(), &status), 0);
    EXPECT_EQ(status.st_size, 1ll << 40);
    EXPECT_LT(status.st_blocks, 1000);
}

TEST(Apply, IsUndoneWithTheInodesOfTheOriginals) {
    LayerTrees trees;
    trees.fill();
    const std::string before = picture(trees.project());
    const uint64_t inode = inode_of(trees.project("src/f1"));
    ASSERT_TRUE(trees.apply());
    EXPECT_NE(inode_of(trees.project("src/f1")), inode);
    base::Status undone = layers::undo(trees.applied());
    ASSERT_TRUE(undone) << undone.error().line();
    EXPECT_EQ(picture(trees.project()), before);
    EXPECT_EQ(inode_of(trees.project("src/f1")), inode);
    EXPECT_FALSE(fs::exists(trees.applied()));
}

TEST(Apply, ThatWasUndoneLeavesNoConflict) {
    LayerTrees trees;
    trees.fill();
    const int64_t start = LayerTrees::now();
    ASSERT_TRUE(trees.apply());
    ASSERT_TRUE(layers::undo(trees.applied()));
    base::Fd layer = LayerTrees::open(trees.upper()), project = LayerTrees::open(trees.project());
    layers::Sides sides{.layer = layer.get(), .project = project.get(), .start = start};
    auto conflicts = [&] {
        std::vector<std::string> all;
        auto changes = layers::find_changes(sides);
        for (const layers::Change& change : *changes)
            all.insert(all.end(), change.conflicts.begin(), change.conflicts.end());
        return all;
    };
    EXPECT_FALSE(conflicts().empty());
    sides.written = layers::restored_below(trees.root() + "/applied");
    EXPECT_EQ(conflicts(), std::vector<std::string>{});
    trees.write(trees.project("src/f1"), "edited");
    EXPECT_EQ(conflicts(), std::vector<std::string>{"src/f1"});
}

TEST(Apply, IsNotUndoneWhereAFileWasChangedSince) {
    LayerTrees trees;
    trees.fill();
    ASSERT_TRUE(trees.apply());
    std::ofstream(trees.project("src/f1"), std::ios::app) << "edited";
    trees.write(trees.project("src/f3"), "made again");
    const std::string edited = picture(trees.project());
    base::Status undone = layers::undo(trees.applied());
    ASSERT_FALSE(undone);
    EXPECT_NE(undone.error().what.find("src/f1"), std::string::npos) << undone.error().what;
    EXPECT_NE(undone.error().what.find("src/f3"), std::string::npos) << undone.error().what;
    EXPECT_EQ(picture(trees.project()), edited);
    EXPECT_TRUE(layers::is_done(trees.applied()));
}

TEST(Apply, UndoKeepsANewFileInADirectoryThatTheApplyMade) {
    LayerTrees trees;
    trees.write(trees.upper("new/f"), "x");
    ASSERT_TRUE(trees.apply());
    trees.write(trees.project("new/own"), "mine");
    ASSERT_TRUE(layers::undo(trees.applied()));
    EXPECT_EQ(*base::read_file(trees.project("new/own")), "mine");
    EXPECT_FALSE(fs::exists(trees.project("new/f")));
}

TEST(Apply, InTheProjectLeavesItsSlotsOnlyUntilUndo) {
    LayerTrees trees;
    trees.fill();
    const std::string before = picture(trees.project());
    ASSERT_TRUE(trees.apply(true));
    EXPECT_EQ(*base::read_file(trees.project(std::string(layers::kStage) + "/.gitignore")), "*\n");
    ASSERT_TRUE(layers::undo(trees.applied()));
    EXPECT_EQ(picture(trees.project()), before);
    EXPECT_FALSE(fs::exists(trees.project(layers::kStage)));
}

TEST(Apply, RefusesAProjectThatWasReplaced) {
    LayerTrees trees;
    trees.fill();
    ASSERT_TRUE(trees.apply());
    fs::rename(trees.project(), trees.root() + "/aside");
    fs::create_directory(trees.project());
    EXPECT_FALSE(layers::undo(trees.applied()));
    EXPECT_TRUE(fs::is_empty(trees.project()));
}

// ---- Interrupted

void finish_and_compare(const LayerTrees& trees, const Expected& expected, bool resumes,
                        const std::string& where) {
    if (!layers::is_interrupted(trees.applied())) {
        // Killed before the journal, or at the very end.
        EXPECT_EQ(picture(trees.project()),
                  layers::is_done(trees.applied()) ? expected.after : expected.before)
            << where;
        return;
    }
    base::Status done = resumes ? layers::resume(trees.applied()) : layers::undo(trees.applied());
    ASSERT_TRUE(done) << where << ": " << done.error().line();
    EXPECT_EQ(picture(trees.project()), resumes ? expected.after : expected.before) << where;
    EXPECT_EQ(layers::is_done(trees.applied()), resumes) << where;
}

bool has_flags(const WatchedCall& call) {
    return call.number == SYS_renameat2 && call.arguments[4] != 0;
}

// `is_old`: a file system without RENAME_EXCHANGE and RENAME_NOREPLACE.
void kill_everywhere(bool is_old) {
    const Expected expected = ::expected();
    ASSERT_GT(expected.calls, 80);
    bool was_killed = true;
    for (int n = 1; was_killed; ++n) {
        for (bool resumes : {true, false}) {
            LayerTrees trees;
            trees.fill();
            WatchedChild child;
            int status = child.run([&] { return trees.apply() ? 0 : 1; },
                                   [&](const WatchedCall& call) {
                                       if (call.index == n) return Answer{Fate::kill};
                                       return Answer{Fate::proceed, is_old && has_flags(call) ? EINVAL : 0};
                                   });
            was_killed = status == -1;
            if (!was_killed) {
                EXPECT_EQ(status, 0);
                EXPECT_EQ(picture(trees.project()), expected.after);
                EXPECT_GE(n, expected.calls);
                return;
            }
            WatchedChild finisher;
            finisher.run(
                [&] {
                    finish_and_compare(trees, expected, resumes, "killed at " + std::to_string(n));
                    return testing::Test::HasFailure() ? 1 : 0;
                },
                [&](const WatchedCall& call) {
                    return Answer{Fate::proceed, is_old && has_flags(call) ? EINVAL : 0};
                });
            // In this process, where a failure counts.
            const bool is_done = layers::is_done(trees.applied());
            EXPECT_EQ(picture(trees.project()), is_done ? expected.after : expected.before)
                << "killed at " << n << (resumes ? ", resumed" : ", undone");
            EXPECT_FALSE(layers::is_interrupted(trees.applied())) << "killed at " << n;
        }
    }
}

TEST(Apply, KilledAtEachCallIsResumedOrUndone) {
    kill_everywhere(false);
}

TEST(Apply, KilledAtEachCallOnAnOldFileSystemIsResumedOrUndone) {
    kill_everywhere(true);
}

TEST(Apply, KilledTwiceIsResumedOrUndone) {
    const Expected expected = ::expected();
    for (int first = expected.calls * 2 / 3; first < expected.calls; first += 5) {
        for (int second = 1; second < 40; second += 3) {
            for (bool resumes : {true, false}) {
                LayerTrees trees;
                trees.fill();
                auto kill_at = [](int n) {
                    return [n](const WatchedCall& call) {
                        return Answer{call.index == n ? Fate::kill : Fate::proceed};
                    };
                };
                WatchedChild child, again;
                child.run([&] { return trees.apply() ? 0 : 1; }, kill_at(first));
                again.run(
                    [&] {
                        // The first attempt is of the other kind: the user changes their mind.
                        if (!layers::is_interrupted(trees.applied())) return 0;
                        return (resumes ? layers::undo(trees.applied()) : layers::resume(trees.applied()))
                                   ? 0
                                   : 1;
                    },
                    kill_at(second));
                finish_and_compare(
                    trees, expected, resumes,
                    "killed at " + std::to_string(first) + " and at " + std::to_string(second));
            }
        }
    }
}

TEST(Apply, AnErrorOfEachCallLeavesTheProjectAsBeforeOrAsAfter) {
    const Expected expected = ::expected();
    for (int error : {ENOSPC, EIO, EROFS, EDQUOT, EXDEV}) {
        for (int n = 1; n <= expected.calls; ++n) {
            LayerTrees trees;
            trees.fill();
            WatchedChild child;
            int status = child.run([&] { return trees.apply() ? 0 : 1; },
                                   [&](const WatchedCall& call) {
                                       return Answer{Fate::proceed, call.index == n ? error : 0};
                                   });
            const std::string where = "error " + std::to_string(error) + " at " + std::to_string(n);
            if (layers::is_interrupted(trees.applied())) {
                ASSERT_TRUE(layers::resume(trees.applied())) << where;
                status = 0;
            }
            // The last call syncs the file that marks the end.
            bool is_applied = status == 0 || layers::is_done(trees.applied());
            EXPECT_EQ(picture(trees.project()), is_applied ? expected.after : expected.before) << where;
        }
    }
}

// ---- A user edits meanwhile

TEST(Apply, NoEditIsLostThatIsSavedWhileTheApplyRuns) {
    const Expected expected = ::expected();
    for (bool is_replaced : {true, false}) {
        for (const char* name : {"src/f1", "src/f3", "gone/x/h2", "src/f4"}) {
            for (int n = 1; n <= expected.calls; ++n) {
                LayerTrees trees;
                trees.fill();
                bool is_saved = false;
                WatchedChild child;
                child.run([&] { return trees.apply() ? 0 : 1; },
                          [&](const WatchedCall& call) {
                              const std::string file = trees.project(name);
                              if (call.index != n || !fs::exists(fs::path(file).parent_path()))
                                  return Answer{};
                              if (is_replaced) {
                                  trees.write(file + "~", "edited by the user");
                                  fs::rename(file + "~", file);
                              } else {
                                  trees.write(file, "edited by the user");
                              }
                              is_saved = true;
                              return Answer{};
                          });
                if (!is_saved) continue;
                // The edit is in the project, or the originals have it.
                bool is_found = false;
                for (const std::string& root : {trees.project(), trees.root() + "/applied"})
                    is_found = is_found || picture(root).find("edited by the user") != std::string::npos;
                EXPECT_TRUE(is_found) << name << " saved at call " << n;
            }
        }
    }
}

}  // namespace
