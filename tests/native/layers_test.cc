// SPDX-License-Identifier: MIT
#include "backends/covers.h"

#include <gtest/gtest.h>

namespace {

using backends::Layer;
using backends::layers_of;
using plan::MountKind;

plan::Mount mount(MountKind kind, std::string_view target) {
    return plan::Mount{.kind = kind, .target = base::Path::known(target)};
}

TEST(Layers, TheGroundIsWhatOneWouldSee) {
    std::vector<Layer> layers =
        layers_of({mount(MountKind::bind_writable, "/p"), mount(MountKind::tmpfs, "/p/t"),
                   mount(MountKind::file, "/p/t/f"), mount(MountKind::file, "/pt/f"),
                   mount(MountKind::bind_readonly, "/p"), mount(MountKind::file, "/p/t/f")});
    EXPECT_EQ(layers[0].ground, std::nullopt);
    EXPECT_EQ(layers[1].ground, MountKind::bind_writable);
    EXPECT_EQ(layers[2].ground, MountKind::tmpfs);
    EXPECT_EQ(layers[3].ground, std::nullopt);
    EXPECT_EQ(layers[5].ground, MountKind::bind_readonly);
}

TEST(Layers, AWritableHostBelowIsSeenThroughOtherMounts) {
    std::vector<Layer> layers =
        layers_of({mount(MountKind::bind_writable, "/p"), mount(MountKind::bind_readonly, "/p/.git"),
                   mount(MountKind::bind_readonly, "/p/.git/hooks"), mount(MountKind::tmpfs, "/q")});
    EXPECT_FALSE(layers[0].is_in_writable);
    EXPECT_TRUE(layers[1].is_in_writable);
    EXPECT_TRUE(layers[2].is_in_writable);
    EXPECT_FALSE(layers[3].is_in_writable);
}

TEST(Layers, LaterMountsCoverAndSealsSeal) {
    std::vector<Layer> layers = layers_of({mount(MountKind::tmpfs, "/a/b"), mount(MountKind::tmpfs, "/c"),
                                           mount(MountKind::tmpfs, "/a"), mount(MountKind::directory, "/c"),
                                           mount(MountKind::seal, "/c")});
    EXPECT_TRUE(layers[0].is_covered);
    EXPECT_FALSE(layers[1].is_covered);
    EXPECT_FALSE(layers[2].is_covered);
    EXPECT_TRUE(layers[1].is_sealed);
    EXPECT_FALSE(layers[2].is_sealed);
}

}  // namespace
