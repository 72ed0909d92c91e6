// SPDX-License-Identifier: MIT
// The layer of a session without an overlay: a copy of the project, and the list of what was copied.
#include "layers/clone/clone.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include <array>
#include <map>

#include "base/rounds.h"
#include "base/text.h"
#include "layers/checkpoints/checkpoints.h"
#include "layers/checkpoints/restore.h"
#include "layers/clone/listing.h"
#include "layers/layer_trees.h"
#include "layers/random_actor.h"
#include "layers/store.h"

namespace {

namespace fs = std::filesystem;
using layers::Change;
using layers::Layer;
using layers::Listing;
using testing_support::Actor;
using testing_support::LayerTrees;
using testing_support::picture;

std::string value_of(const std::string& path, const char* name) {
    std::string value(64, '\0');
    const ssize_t size = ::getxattr(path.c_str(), name, value.data(), value.size());
    value.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return value;
}

struct stat status_of(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
}

// Root reads every file. Without these capabilities it is an owner as any other.
class WithoutFileCapabilities {
  public:
    WithoutFileCapabilities() {
        EXPECT_EQ(::syscall(SYS_capget, &header_, before_.data()), 0);
        auto fewer = before_;
        fewer[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
        EXPECT_EQ(::syscall(SYS_capset, &header_, fewer.data()), 0);
    }
    ~WithoutFileCapabilities() { ::syscall(SYS_capset, &header_, before_.data()); }
    WithoutFileCapabilities(const WithoutFileCapabilities&) = delete;
    WithoutFileCapabilities& operator=(const WithoutFileCapabilities&) = delete;

  private:
    struct __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<struct __user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> before_{};
};

// A project and a layer of it.
class Clone : public testing::Test {
  protected:
    std::string at(const std::string& name = "") const {
        return layer_.present() + (name.empty() ? "" : "/" + name);
    }

    void begin() {
        const layers::Store store(trees_.root());
        layer_ = {.about = {.id = "4f2a00", .name = "", .project = base::Path::known(trees_.project())},
                  .directory = store.directory_of("4f2a00").str(),
                  .is_clone = true};
        layer_.about.start = LayerTrees::now();
        auto lock = layers::open_for_session(layer_, 0755);
        ASSERT_TRUE(lock) << lock.error().line();
        ASSERT_TRUE(layers::lock_checkpoints(layer_));
    }

    base::Result<std::vector<Change>> find() const {
        base::Fd files = LayerTrees::open(layer_.upper()), project = LayerTrees::open(trees_.project());
        base::Result<Listing> listing = Listing::load(layer_.clone());
        if (!listing) return listing.error();
        return layers::find_changes({.layer = files.get(),
                                     .project = project.get(),
                                     .start = layer_.about.start,
                                     .listing = &*listing});
    }
    std::map<std::string, Change> changes() const {
        auto found = find();
        EXPECT_TRUE(found) << found.error().line();
        std::map<std::string, Change> all;
        for (Change& change : *found) all.emplace(change.path, change);
        return all;
    }
    std::string names() const {
        std::string text;
        for (const auto& [path, change] : changes()) text += (change.is_deletion() ? "-" : "") + path + " ";
        return text;
    }

    bool apply() const {
        base::Fd files = LayerTrees::open(layer_.upper()), project = LayerTrees::open(trees_.project());
        auto all = find();
        if (!all) return false;
        const std::string directory = layer_.applied(1);
        fs::create_directories(directory);
        auto journal = layers::apply({.layer = files.get(),
                                      .project = project.get(),
                                      .project_path = base::Path::known(trees_.project()),
                                      .directory = directory,
                                      .slots = directory + "/slots",
                                      .scanned = LayerTrees::now()},
                                     *all);
        EXPECT_TRUE(journal) << journal.error().line();
        return journal.ok();
    }

    LayerTrees trees_;
    Layer layer_;
};

TEST_F(Clone, IsTheProjectWithLinksModesTimesAndAttributes) {
    trees_.write(trees_.project("src/one"), "one", 0640);
    fs::create_hard_link(trees_.project("src/one"), trees_.project("two"));
    fs::create_symlink("src/one", trees_.project("link"));
    fs::permissions(trees_.project("src"), fs::perms(0750));
    ASSERT_EQ(::mkfifo(trees_.project("pipe").c_str(), 0600), 0);
    ASSERT_EQ(::setxattr(trees_.project("two").c_str(), "user.kept", "yes", 3, 0), 0);
    const struct timespec old[] = {{.tv_sec = 5, .tv_nsec = 7}, {.tv_sec = 6, .tv_nsec = 8}};
    ASSERT_EQ(::utimensat(AT_FDCWD, trees_.project("two").c_str(), old, 0), 0);
    begin();
    fs::remove(trees_.project("pipe"));  // picture() would wait for it
    EXPECT_TRUE(S_ISFIFO(status_of(at("pipe")).st_mode));
    fs::remove(at("pipe"));
    EXPECT_EQ(picture(at()), picture(trees_.project()));
    EXPECT_EQ(status_of(at("two")).st_ino, status_of(at("src/one")).st_ino);
    EXPECT_NE(status_of(at("two")).st_ino, status_of(trees_.project("two")).st_ino);
    EXPECT_EQ(status_of(at("two")).st_mtim.tv_sec, 6);
    EXPECT_EQ(value_of(at("two"), "user.kept"), "yes");
    EXPECT_EQ(names(), "");
}

TEST_F(Clone, ShowsWhatWasChangedAndNothingElse) {
    for (const char* name :
         {"same", "changed", "mode", "gone", "d/in", "d/gone", "dir_gone/x/y", "to_file/z"})
        trees_.write(trees_.project(name), name);
    fs::create_hard_link(trees_.project("same"), trees_.project("same_too"));
    begin();
    EXPECT_EQ(names(), "");
    trees_.write(at("changed"), "CHANGED");  // of the same length
    fs::permissions(at("mode"), fs::perms(0755));
    fs::remove(at("gone"));
    fs::remove(at("d/gone"));
    fs::remove_all(at("dir_gone"));
    fs::remove_all(at("to_file"));
    trees_.write(at("to_file"), "now a file");
    trees_.write(at("new/deep/file"), "new");
    fs::rename(at("d/in"), at("d/moved"));
    EXPECT_EQ(names(),
              "changed -d/gone -d/in d/moved -dir_gone -gone mode new new/deep new/deep/file to_file ");
    EXPECT_TRUE(changes().at("mode").is_mode_alone);
    for (const auto& [path, change] : changes()) EXPECT_TRUE(change.conflicts.empty()) << path;
    EXPECT_EQ(layers::count_files(layer_.present(), 1000), 9u);
    ASSERT_TRUE(apply());
    EXPECT_EQ(picture(trees_.project()), picture(at()));
    EXPECT_EQ(names(), "");
}

TEST_F(Clone, OnlyWhatChangedOutsideIsInConflict) {
    for (const char* name : {"ours", "theirs", "both", "removed", "d/one", "e/one"})
        trees_.write(trees_.project(name), name);
    begin();
    trees_.write(trees_.project("theirs"), "outside");
    trees_.write(trees_.project("both"), "outside");
    trees_.write(trees_.project("e/late"), "outside");
    fs::remove(trees_.project("removed"));
    for (const char* name : {"ours", "both", "removed"}) trees_.write(at(name), "inside");
    fs::remove_all(at("d"));
    fs::remove_all(at("e"));
    auto all = changes();
    EXPECT_EQ(names(), "both -d -e ours removed ");
    EXPECT_TRUE(all.at("ours").conflicts.empty());
    EXPECT_TRUE(all.at("d").conflicts.empty());
    EXPECT_TRUE(all.at("removed").is_addition());
    EXPECT_EQ(all.at("both").conflicts, std::vector<std::string>{"both"});
    EXPECT_EQ(all.at("e").conflicts, std::vector<std::string>{"e/late"});
}

TEST_F(Clone, ADirectoryThatOnlyTheUserRemovedIsMadeForAChangeInItAlone) {
    for (const char* name : {"a/x", "b/x"}) trees_.write(trees_.project(name), name);
    begin();
    fs::remove_all(trees_.project("a"));
    fs::remove_all(trees_.project("b"));
    trees_.write(at("b/y"), "inside");
    EXPECT_EQ(names(), "b b/y ");
}

// The attributes of an overlay have no meaning in a clone, where a process inside can set them.
TEST_F(Clone, AnOpaqueMarkOfTheAgentHidesNothing) {
    trees_.write(trees_.project("d/x"), "x");
    begin();
    ASSERT_EQ(::setxattr(at("d").c_str(), "user.overlay.opaque", "y", 1, 0), 0);
    trees_.write(at("d/x"), "inside");
    EXPECT_EQ(names(), "d/x ");
}

TEST_F(Clone, HasNoSetUserIdProgramAndNothingOfAnApply) {
    trees_.write(trees_.project("program"), "x", 04755);
    trees_.write(trees_.project(std::string(layers::kStage) + "/id.1/0"), "original");
    begin();
    EXPECT_EQ(status_of(trees_.project("program")).st_mode & 07777, 04755u);
    EXPECT_EQ(status_of(at("program")).st_mode & 07777, 0755u);
    EXPECT_FALSE(fs::exists(at(layers::kStage)));
    EXPECT_EQ(names(), "");
}

TEST_F(Clone, WhatTheCallerCantReadIsEmptyAndNoChange) {
    trees_.write(trees_.project("closed"), "secret", 0);
    trees_.write(trees_.project("shut/in"), "secret");
    fs::permissions(trees_.project("shut"), fs::perms(0));
    {
        const WithoutFileCapabilities ordinary;
        begin();
    }
    fs::permissions(trees_.project("shut"), fs::perms(0700));
    EXPECT_EQ(status_of(at("closed")).st_size, 0);
    EXPECT_EQ(status_of(at("closed")).st_mode & 0777, 0u);
    EXPECT_EQ(names(), "");
}

TEST_F(Clone, AndItsCheckpointsHaveTheAclsOfTheProject) {
    trees_.write(trees_.project("shared"), "x");
    if (!LayerTrees::set_acl(trees_.project("shared"))) GTEST_SKIP() << "the file system has no ACLs";
    begin();
    EXPECT_TRUE(LayerTrees::has_acl(at("shared")));
    auto copy = layers::NewCheckpoint::make(layer_);
    ASSERT_TRUE(copy && copy->keep("", false));
    EXPECT_TRUE(LayerTrees::has_acl(layer_.checkpoint_upper(1) + "/shared"));
    EXPECT_EQ(names(), "");
}

// A file of the agent may have any name.
TEST_F(Clone, ARollbackKeepsEntriesWithTheNameOfItsTemporaryFile) {
    trees_.write(trees_.project("file"), "old");
    begin();
    trees_.write(at(".agent-sandbox-rollback/kept"), "kept");
    trees_.write(at(".agent-sandbox-rollback.1"), "kept");
    auto copy = layers::NewCheckpoint::make(layer_);
    ASSERT_TRUE(copy && copy->keep("", false));
    trees_.write(at("file"), "new");
    const base::Fd files = LayerTrees::open(at()), then = LayerTrees::open(layer_.checkpoint_upper(1));
    auto restored = layers::restore_through({.mount = files.get(), .checkpoint = then.get()});
    ASSERT_TRUE(restored) << restored.error().line();
    EXPECT_EQ(*base::read_file(at("file")), "old");
    EXPECT_EQ(*base::read_file(at(".agent-sandbox-rollback/kept")), "kept");
    EXPECT_EQ(*base::read_file(at(".agent-sandbox-rollback.1")), "kept");
    EXPECT_FALSE(fs::exists(at(".agent-sandbox-rollback.2")));
}

TEST_F(Clone, CheckpointsHaveTheirOwnListAndARollbackBringsItBack) {
    for (const char* name : {"early", "late", "never"}) trees_.write(trees_.project(name), "old");
    begin();
    trees_.write(at("early"), "one");
    auto copy = layers::NewCheckpoint::make(layer_);
    ASSERT_TRUE(copy) << copy.error().line();
    ASSERT_TRUE(copy->keep("", false));
    trees_.write(at("late"), "two");
    trees_.write(trees_.project("never"), "outside");
    EXPECT_EQ(names(), "early late ");
    layer_.checkpoint = 1;
    EXPECT_EQ(names(), "early ");
    layer_.checkpoint = 0;
    ASSERT_TRUE(layers::restore_at_rest(layer_, 1));
    EXPECT_EQ(names(), "early ");
    trees_.write(at("late"), "again");
    EXPECT_EQ(names(), "early late ");
    const base::Fd files = LayerTrees::open(at()), then = LayerTrees::open(layer_.checkpoint_upper(1));
    auto restored = layers::restore_through({.mount = files.get(), .checkpoint = then.get()});
    ASSERT_TRUE(restored) << restored.error().line();
    ASSERT_TRUE(layers::list_restored(layer_, 1));
    EXPECT_EQ(names(), "early ");
    EXPECT_EQ(*base::read_file(at("late")), "old");
}

TEST_F(Clone, OfATooLargeProjectNamesTheSettingUnlessItWasAskedFor) {
    trees_.write(trees_.project("large"), "");
    ASSERT_EQ(::truncate(trees_.project("large").c_str(), off_t{8} << 30), 0);
    begin();  // a hole counts nothing
    EXPECT_EQ(status_of(at("large")).st_size, off_t{8} << 30);
    EXPECT_LT(status_of(at("large")).st_blocks, 100);
    for (const layers::CloneBounds& bounds : {layers::CloneBounds{.entries = 0}, {.bytes = 0}}) {
        trees_.write(trees_.project("small"), "x");
        const std::string root = trees_.root() + "/bounded";
        fs::create_directories(root);
        layers::CloneRequest request{
            .project = base::Path::known(trees_.project()), .root = root, .bounds = bounds};
        auto refused = layers::make_clone(request);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().advice.find("cow.engine"), std::string::npos);
        EXPECT_TRUE(fs::is_empty(root));
        request.bounds.reset();
        EXPECT_TRUE(layers::make_clone(request));
        fs::remove_all(root);
    }
}

TEST_F(Clone, ThatCantBeMadeLeavesNothing) {
    trees_.write(trees_.project("x"), "x");
    const std::string root = trees_.root() + "/missing";
    ASSERT_FALSE(layers::make_clone({.project = base::Path::known(trees_.project()), .root = root}));
    EXPECT_FALSE(fs::exists(root));
    EXPECT_EQ(picture(trees_.project()).substr(0, 2), "/x");
}

// The same law as that of RandomLayers: a project is after an apply what a process inside saw.
class RandomClones : public Clone {};

TEST_F(RandomClones, AreAppliedUndoneAndRestored) {
    constexpr unsigned kRounds = test::rounds(150);
    for (unsigned round = 0; round < kRounds && !HasFailure(); ++round) {
        base::remove_tree(trees_.root() + "/layers");
        base::remove_tree(trees_.project());
        fs::create_directory(trees_.project());
        Actor(trees_.project(), round).act(60);
        const std::string before = picture(trees_.project());
        begin();
        ASSERT_EQ(picture(at()), before) << round;
        ASSERT_EQ(names(), "") << round;
        Actor(at(), round + 5000).act(30);
        const std::string then = picture(at());
        auto copy = layers::NewCheckpoint::make(layer_);
        ASSERT_TRUE(copy && copy->keep("", false)) << round;
        const std::string names_then = names();
        Actor(at(), round + 9000).act(30);
        if (round % 2 == 0) {
            ASSERT_TRUE(layers::restore_at_rest(layer_, 1)) << round;
            EXPECT_EQ(picture(at()), then) << round;
            EXPECT_EQ(names(), names_then) << round;
        }
        const std::string seen = picture(at());
        EXPECT_EQ(picture(trees_.project()), before) << round;
        ASSERT_TRUE(apply()) << round;
        EXPECT_EQ(picture(trees_.project()), seen) << "round " << round;
        ASSERT_TRUE(layers::undo(layer_.applied(1))) << round;
        EXPECT_EQ(picture(trees_.project()), before) << "undone, round " << round;
    }
}

}  // namespace
