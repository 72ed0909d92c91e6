// SPDX-License-Identifier: MIT
#include "layers/store.h"

#include <gtest/gtest.h>

#include <ctime>

#include "layers/layer_trees.h"

namespace {

namespace fs = std::filesystem;
using layers::Layer;
using layers::State;
using layers::Store;
using testing_support::LayerTrees;

Layer new_layer(const LayerTrees& trees, const std::string& id, const std::string& name = "") {
    Store store(trees.root());
    return {.about = {.id = id, .name = name, .project = base::Path::known(trees.project()), .start = 5},
            .directory = store.directory_of(id).str()};
}

TEST(LayerStore, ListsALayerWithWhatItBelongsTo) {
    LayerTrees trees;
    Store store(trees.root());
    Layer layer = new_layer(trees, "4f2a00", "idea");
    layer.about.places = {"a/b"};
    {
        auto lock = layers::open_for_session(layer, 0750);
        ASSERT_TRUE(lock) << lock.error().line();
        EXPECT_EQ(layers::state_of(layer), State::running);
        EXPECT_FALSE(layers::open_for_session(layer, 0750));
        EXPECT_FALSE(layers::lock_for_command(layer));
        EXPECT_EQ(fs::status(layer.upper()).permissions(), fs::perms(0750));
    }
    std::vector<Layer> all = store.list();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].about.title(), "idea");
    EXPECT_EQ(all[0].about.places, std::vector<std::string>{"a/b"});
    EXPECT_EQ(layers::state_of(all[0]), State::waiting);
    EXPECT_TRUE(store.named("idea", base::Path::known(trees.project())));
    EXPECT_FALSE(store.named("idea", base::Path::known("/elsewhere")));
    layers::remove_layer(all[0]);
    EXPECT_TRUE(store.list().empty());
}

TEST(LayerStore, HasNoSymbolicLinkInItsPaths) {
    LayerTrees trees;
    fs::create_directory(trees.root() + "/real");
    fs::create_directory_symlink("real", trees.root() + "/linked");
    EXPECT_EQ(layers::physical_path(trees.root() + "/linked/state/missing"),
              trees.root() + "/real/state/missing");
    const Store store(trees.root() + "/linked/state");
    EXPECT_EQ(store.directory_of("4f2a").str(), trees.root() + "/real/state/layers/4f2a");
}

TEST(LayerStore, KeepsTheFilesOfALayerInItsStorage) {
    LayerTrees trees;
    Store store(trees.root());
    Layer layer = new_layer(trees, "4f2a00");
    layer.storage = trees.root() + "/storage/4f2a00";
    {
        auto lock = layers::open_for_session(layer, 0755);
        ASSERT_TRUE(lock) << lock.error().line();
    }
    ASSERT_EQ(store.list().size(), 1u);
    EXPECT_EQ(store.list()[0].present(), trees.root() + "/storage/4f2a00/roots/0/upper");
    EXPECT_TRUE(fs::exists(store.list()[0].present()));
    layers::mark_synced(layer.directory);
    EXPECT_FALSE(fs::exists(trees.root() + "/storage/4f2a00/roots/0/work"));
    layers::remove_layer(store.list()[0]);
    EXPECT_TRUE(fs::is_empty(trees.root() + "/storage"));
    fs::permissions(trees.root() + "/storage", fs::perms(0775));
    auto refused = layers::open_for_session(layer, 0755);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("cow.storage"), std::string::npos);
}

TEST(LayerStore, FindsALayerByNameDigitsOrProject) {
    LayerTrees trees;
    Store store(trees.root());
    const base::Path project = base::Path::known(trees.project());
    for (const char* id : {"aaaa11", "aaaa22"})
        ASSERT_TRUE(layers::open_for_session(new_layer(trees, id), 0755));
    EXPECT_EQ(store.find("aaaa1", project)->about.id, "aaaa11");
    EXPECT_EQ(store.with_id("aaaa11", project)->about.id, "aaaa11");
    EXPECT_FALSE(store.with_id("aaaa1", project));
    EXPECT_FALSE(store.with_id("aaaa11", base::Path::known("/elsewhere")));
    EXPECT_FALSE(store.find("aaaa", project));
    EXPECT_FALSE(store.find("aaa", project));
    EXPECT_FALSE(store.find("", project));
    EXPECT_FALSE(store.find("", base::Path::known("/elsewhere")));
    layers::remove_layer(new_layer(trees, "aaaa22"));
    EXPECT_EQ(store.find("", project / "sub")->about.id, "aaaa11");
}

TEST(LayerStore, ASessionTakesALayerUpAgain) {
    LayerTrees trees;
    Layer layer = new_layer(trees, "4f2a00");
    ASSERT_TRUE(layers::open_for_session(layer, 0755));
    trees.write(layer.upper() + "/file", "x");
    fs::create_directories(layer.directory + "/roots/0/work/work/incompat/volatile");
    fs::permissions(layer.directory + "/roots/0/work/work", fs::perms(0));
    ASSERT_TRUE(layers::open_for_session(layer, 0755));
    EXPECT_TRUE(fs::is_empty(layer.directory + "/roots/0/work"));
    EXPECT_TRUE(fs::exists(layer.upper() + "/file"));
}

TEST(LayerStore, OfAnotherBootThatWasNotSyncedMayBeDamaged) {
    LayerTrees trees;
    Layer layer = new_layer(trees, "4f2a00");
    ASSERT_TRUE(layers::open_for_session(layer, 0755));
    Layer known = Store(trees.root()).list().front();
    EXPECT_FALSE(layers::may_be_damaged(known));
    known.about.boot = "another";
    EXPECT_TRUE(layers::may_be_damaged(known));
    layers::mark_synced(known.directory);
    EXPECT_FALSE(layers::may_be_damaged(known));
}

TEST(LayerStore, RemovesOnlyWhatWasAppliedCompletelyLongAgo) {
    LayerTrees trees;
    Store store(trees.root());
    const int64_t now = std::time(nullptr);
    for (const char* id : {"aaaa11", "bbbb22"})
        ASSERT_TRUE(layers::open_for_session(new_layer(trees, id), 0755));
    Layer applied = new_layer(trees, "bbbb22");
    fs::create_directories(applied.applied(1));
    layers::mark_all_applied(applied, 1);
    EXPECT_EQ(layers::state_of(applied), State::applied);
    store.remove_expired(100, now + 50);
    EXPECT_EQ(store.list().size(), 2u);
    store.remove_expired(100, now + 200);
    ASSERT_EQ(store.list().size(), 1u);
    EXPECT_EQ(store.list()[0].about.id, "aaaa11");
}

TEST(LayerStore, NamesHaveNoSlashAndNoDotAtTheStart) {
    for (const char* name : {"a", "idea-2", "x.y_z"}) EXPECT_TRUE(layers::is_layer_name(name)) << name;
    for (const char* name : {"", "..", ".a", "-a", "a/b", "a b", "a\nb"})
        EXPECT_FALSE(layers::is_layer_name(name)) << name;
}

TEST(LayerStore, OneProcessAtATimeAppliesToAProject) {
    LayerTrees trees;
    Store store(trees.root());
    auto first = store.lock_project(1, 2);
    ASSERT_TRUE(first);
    EXPECT_TRUE(store.lock_project(1, 3));
    auto second = store.lock_project(1, 2);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().what.find(std::to_string(::getpid())), std::string::npos) << second.error().what;
}

}  // namespace
