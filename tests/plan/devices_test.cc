// SPDX-License-Identifier: MIT
#include <algorithm>

#include "plan/case.h"

namespace {

using test::Case;

constexpr std::string_view kSound = "c /dev/snd/pcm0\nc /dev/snd/pcm1\nl /dev/sound snd/pcm0\n";

base::Result<plan::Plan> planned(std::string_view allow, std::string_view nodes = kSound,
                                 std::string_view deny = "") {
    std::string user = "[devices]\nallow = ['" + std::string(allow) + "']\n";
    std::string admin = deny.empty() ? "" : "[devices]\ndeny = ['" + std::string(deny) + "']\n";
    Case example;
    example.tree += nodes;
    example.toml.user = user;
    example.toml.admin = admin;
    return test::planned(example);
}

bool is_bound(const plan::Plan& plan, std::string_view target) {
    const plan::Mount* mount = test::mount_at(plan, target);
    return mount != nullptr && mount->kind == plan::MountKind::bind_device;
}

bool says(const plan::Plan& plan, std::string_view text) {
    return std::ranges::any_of(
        plan.notes, [&](const plan::Note& note) { return note.text.find(text) != std::string::npos; });
}

TEST(Devices, AreBoundByNameByPatternAndByDirectory) {
    for (std::string entry : {"/dev/snd/pcm0", "/dev/snd/pcm?", "/dev/snd"}) {
        auto plan = planned(entry);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_TRUE(is_bound(*plan, "/dev/snd/pcm0")) << entry;
        EXPECT_EQ(is_bound(*plan, "/dev/snd/pcm1"), entry != "/dev/snd/pcm0") << entry;
    }
}

TEST(Devices, StandBetweenTheJailsOwnDirectoryAndItsSeal) {
    auto plan = planned("/dev/snd/pcm0");
    ASSERT_TRUE(plan);
    auto place = [&](plan::MountKind kind, std::string_view target) {
        return std::ranges::find_if(plan->mounts, [&](const plan::Mount& mount) {
            return mount.kind == kind && mount.target.str() == target;
        });
    };
    auto node = place(plan::MountKind::bind_device, "/dev/snd/pcm0");
    ASSERT_NE(node, plan->mounts.end());
    EXPECT_LT(place(plan::MountKind::dev, "/dev"), node);
    EXPECT_LT(node, place(plan::MountKind::seal, "/dev"));
}

TEST(Devices, AnAbsentOneIsRefused) {
    auto plan = planned("/dev/absent");
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("no device matches"), std::string::npos);
}

// One file may be used on many machines, and this machine lacks the device.
TEST(Devices, APatternWithoutAMatchIsANote) {
    auto plan = planned("/dev/absent*");
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(std::ranges::any_of(plan->notes, [](const plan::Note& note) {
        return note.text.find("no device of this machine matches /dev/absent*") != std::string::npos;
    }));
    EXPECT_FALSE(planned("/etc/absent*"));
}

TEST(Devices, WhatIsNoDeviceIsRefused) {
    EXPECT_FALSE(planned("/dev/file", "f /dev/file\n"));
    EXPECT_FALSE(planned("/etc/hosts"));
    EXPECT_FALSE(planned("/dev"));
}

TEST(Devices, DisksAreNeverLetInUnderAnyName) {
    const std::string nodes = "c /dev/sda\nl /dev/mine sda\nd /dev/folder\nl /dev/folder/disk ../sda\n";
    for (std::string entry : {"/dev/sda", "/dev/mine", "/dev/folder", "/dev/s*"}) {
        auto plan = planned(entry, nodes);
        ASSERT_FALSE(plan) << entry;
        EXPECT_NE(plan.error().line().find("is never let in"), std::string::npos) << entry;
    }
}

TEST(Devices, ALinkThatLeadsOutOfDevIsRefused) {
    auto plan = planned("/dev/out", "c /opt/device\nl /dev/out /opt/device\n");
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("leads out of /dev"), std::string::npos);
}

TEST(Devices, TheAdministratorsDenyWinsUnderEveryName) {
    for (std::string deny : {"/dev/snd/pcm0", "/dev/snd", "/dev/snd/*", "/dev/sound"}) {
        for (std::string allow : {"/dev/snd/pcm0", "/dev/snd", "/dev/sound"}) {
            auto plan = planned(allow, kSound, deny);
            ASSERT_TRUE(plan) << plan.error().line();
            EXPECT_FALSE(is_bound(*plan, "/dev/snd/pcm0")) << deny << " " << allow;
            EXPECT_FALSE(is_bound(*plan, "/dev/sound")) << deny << " " << allow;
        }
    }
}

TEST(Devices, WhatADenyTakesIsSaid) {
    auto plan = planned("/dev/snd", kSound, "/dev/snd/pcm1");
    ASSERT_TRUE(plan);
    EXPECT_TRUE(says(*plan, "/dev/snd/pcm1 is not let in: devices.deny"));
    EXPECT_TRUE(is_bound(*plan, "/dev/snd/pcm0"));
}

}  // namespace
