// SPDX-License-Identifier: MIT
#include <algorithm>

#include "plan/case.h"

namespace {

using test::Case;

constexpr std::string_view kNvidia = R"(c /dev/nvidia0
c /dev/nvidia1
c /dev/nvidiactl
c /dev/nvidia-uvm
c /dev/nvidia-uvm-tools
c /dev/nvidia-caps/nvidia-cap1 0400
c /dev/nvidia-caps/nvidia-cap2 0444
f /proc/driver/nvidia/gpus/0000:17:00.0/information 0444 Model: X\nDevice Minor: \t 0\n
f /proc/driver/nvidia/gpus/0000:65:00.0/information 0444 Model: X\nDevice Minor: \t 1\n
l /sys/bus/pci/devices/0000:17:00.0 ../../../devices/pci0000:16/0000:17:00.0
l /sys/bus/pci/devices/0000:65:00.0 ../../../devices/pci0000:64/0000:65:00.0
f /sys/devices/pci0000:16/0000:17:00.0/vendor 0444 0x10de\n
f /sys/devices/pci0000:64/0000:65:00.0/vendor 0444 0x10de\n
f /sys/devices/pci0000:64/0000:66:00.0/vendor 0444 0x15b3\n
d /sys/devices/system/cpu
f /sys/module/nvidia/version 0444 560.1\n
)";

constexpr std::string_view kAmd = R"(c /dev/kfd
c /dev/dri/card0
c /dev/dri/renderD128
l /sys/class/drm/renderD128 ../../devices/pci0000:00/0000:03:00.0/drm/renderD128
f /sys/devices/pci0000:00/0000:03:00.0/vendor 0444 0x1002\n
f /sys/devices/pci0000:00/0000:03:00.0/drm/renderD128/dev 0444 226:128\n
l /sys/devices/pci0000:00/0000:03:00.0/drm/renderD128/device ../../../0000:03:00.0
l /sys/dev/char/226:128 ../../devices/pci0000:00/0000:03:00.0/drm/renderD128
l /sys/class/kfd/kfd ../../devices/virtual/kfd/kfd
d /sys/devices/virtual/kfd/kfd/topology
d /sys/module/amdgpu
)";

constexpr std::string_view kIntel = R"(c /dev/dri/card0
c /dev/dri/renderD128
c /dev/kfd
l /sys/class/drm/renderD128 ../../devices/pci0000:00/0000:00:02.0/drm/renderD128
f /sys/devices/pci0000:00/0000:00:02.0/vendor 0444 0x8086\n
f /sys/devices/pci0000:00/0000:00:02.0/drm/renderD128/dev 0444 226:128\n
l /sys/devices/pci0000:00/0000:00:02.0/drm/renderD128/device ../../../0000:00:02.0
)";

struct Machine {
    std::string_view nodes;
    std::string gpu = "auto";
    std::vector<std::string> variables = {};
    std::string admin = "";
    std::string slurm_job = "";
};

base::Result<plan::Plan> planned(const Machine& machine) {
    const std::string user = "[devices]\ngpu = '" + machine.gpu + "'\n";
    Case example;
    example.tree += machine.nodes;
    example.toml.user = user;
    example.toml.admin = machine.admin;
    example.slurm_job = machine.slurm_job;
    example.environment.insert(example.environment.end(), machine.variables.begin(), machine.variables.end());
    return test::planned(example);
}

std::vector<std::string> nodes_of(const base::Result<plan::Plan>& plan) {
    std::vector<std::string> nodes;
    if (!plan) {
        ADD_FAILURE() << plan.error().line();
        return nodes;
    }
    for (const plan::Mount& mount : plan->mounts) {
        if (mount.kind == plan::MountKind::bind_device) nodes.push_back(mount.target.str());
    }
    std::ranges::sort(nodes);
    return nodes;
}

using Nodes = std::vector<std::string>;

bool says(const plan::Plan& plan, std::string_view text) {
    return std::ranges::any_of(
        plan.notes, [&](const plan::Note& note) { return note.text.find(text) != std::string::npos; });
}

TEST(Gpu, NvidiaComesWithItsControlAndMemoryNodes) {
    auto plan = planned({kNvidia});
    EXPECT_EQ(nodes_of(plan),
              (Nodes{"/dev/nvidia-caps/nvidia-cap2", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                     "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"}));
}

TEST(Gpu, OnlyTheGpusOwnPartOfSysIsThere) {
    auto plan = planned({kNvidia});
    ASSERT_TRUE(plan);
    EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:16/0000:17:00.0/vendor"), "readonly");
    EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:64/0000:65:00.0"), "readonly");
    EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:64/0000:66:00.0"), "absent");
    EXPECT_EQ(test::access(*plan, "/sys/module/nvidia"), "readonly");
    EXPECT_EQ(test::access(*plan, "/sys/kernel"), "absent");
    const plan::Mount* link = test::mount_at(*plan, "/sys/bus/pci/devices/0000:17:00.0");
    ASSERT_NE(link, nullptr);
    EXPECT_EQ(link->kind, plan::MountKind::symlink);
}

TEST(Gpu, WithoutOneThereIsNoSysAtAll) {
    auto plan = planned({"d /sys/devices/system/cpu\n"});
    ASSERT_TRUE(plan);
    EXPECT_EQ(test::access(*plan, "/sys/devices/system/cpu"), "absent");
    EXPECT_FALSE(says(*plan, "GPU"));
}

TEST(Gpu, SlurmsListLimitsTheNodes) {
    for (std::string variable : {"SLURM_JOB_GPUS=1", "SLURM_STEP_GPUS=1", "SLURM_JOB_GPUS=1-1"}) {
        auto plan =
            planned({.nodes = kNvidia, .variables = {variable, "CUDA_VISIBLE_DEVICES=0"}, .slurm_job = "7"});
        ASSERT_TRUE(plan);
        EXPECT_EQ(test::mount_at(*plan, "/dev/nvidia0"), nullptr) << variable;
        EXPECT_NE(test::mount_at(*plan, "/dev/nvidia1"), nullptr) << variable;
        EXPECT_NE(test::mount_at(*plan, "/dev/nvidiactl"), nullptr) << variable;
        EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:16/0000:17:00.0"), "absent") << variable;
        EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:64/0000:65:00.0"), "readonly") << variable;
    }
}

TEST(Gpu, TheStepsListGoesBeforeTheJobs) {
    auto plan = planned(
        {.nodes = kNvidia, .variables = {"SLURM_JOB_GPUS=0,1", "SLURM_STEP_GPUS=0"}, .slurm_job = "7"});
    ASSERT_TRUE(plan);
    EXPECT_NE(test::mount_at(*plan, "/dev/nvidia0"), nullptr);
    EXPECT_EQ(test::mount_at(*plan, "/dev/nvidia1"), nullptr);
}

TEST(Gpu, ListsThatCannotMeanNodesLimitNothing) {
    // Outside a job, invalid text, numbers without a device node, and parts of a divided GPU.
    const std::string divided = std::string(kNvidia) + "c /dev/nvidia-caps/nvidia-cap21 0444\n";
    const Machine machines[] = {
        {.nodes = kNvidia, .variables = {"SLURM_JOB_GPUS=1"}},
        {.nodes = kNvidia, .variables = {"SLURM_JOB_GPUS=GPU-1234"}, .slurm_job = "7"},
        {.nodes = kNvidia, .variables = {"SLURM_JOB_GPUS=40"}, .slurm_job = "7"},
        {.nodes = divided, .variables = {"SLURM_JOB_GPUS=1"}, .slurm_job = "7"},
    };
    for (const Machine& machine : machines) {
        auto plan = planned(machine);
        ASSERT_TRUE(plan);
        EXPECT_NE(test::mount_at(*plan, "/dev/nvidia0"), nullptr) << machine.variables.front();
        EXPECT_NE(test::mount_at(*plan, "/dev/nvidia1"), nullptr) << machine.variables.front();
    }
}

TEST(Gpu, ARenderNodeOfNvidiasIsNoWayAroundSlurmsList) {
    std::string nodes = std::string(kNvidia) +
                        "c /dev/dri/renderD128\nf /sys/class/drm/renderD128/device/vendor 0444 0x10de\n";
    EXPECT_NE(test::mount_at(*planned({.nodes = nodes}), "/dev/dri/renderD128"), nullptr);
    auto plan = planned({.nodes = nodes, .variables = {"SLURM_JOB_GPUS=0"}, .slurm_job = "7"});
    ASSERT_TRUE(plan);
    EXPECT_EQ(test::mount_at(*plan, "/dev/dri/renderD128"), nullptr);
}

TEST(Gpu, AmdComesWithItsQueuesAndTopology) {
    auto plan = planned({kAmd});
    EXPECT_EQ(nodes_of(plan), (Nodes{"/dev/dri/renderD128", "/dev/kfd"}));
    EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:00/0000:03:00.0/vendor"), "readonly");
    EXPECT_EQ(test::access(*plan, "/sys/devices/virtual/kfd/kfd/topology"), "readonly");
    EXPECT_EQ(test::access(*plan, "/sys/module/amdgpu"), "readonly");
    EXPECT_NE(test::mount_at(*plan, "/sys/class/kfd/kfd"), nullptr);
    EXPECT_NE(test::mount_at(*plan, "/sys/dev/char/226:128"), nullptr);
}

TEST(Gpu, IntelIsItsRenderNodeAlone) {
    auto plan = planned({kIntel});
    EXPECT_EQ(nodes_of(plan), Nodes{"/dev/dri/renderD128"});
    EXPECT_EQ(test::access(*plan, "/sys/devices/pci0000:00/0000:00:02.0/vendor"), "readonly");
    EXPECT_EQ(test::access(*plan, "/dev/dri/card0"), test::access(*plan, "/dev/null"));
    EXPECT_EQ(test::mount_at(*plan, "/dev/dri/card0"), nullptr);
}

TEST(Gpu, OffBindsNothing) {
    EXPECT_EQ(nodes_of(planned({kNvidia, "off"})), Nodes{});
}

TEST(Gpu, OnWithoutAnyIsAnError) {
    auto plan = planned({"", "on"});
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("no GPU to let in: this machine has no node"), std::string::npos)
        << plan.error().line();
}

TEST(Gpu, OneThatTheCallerMayNotOpenIsNoneAndTheReasonIsSaid) {
    constexpr std::string_view kClosed = "c /dev/dri/renderD128 0660\n";
    EXPECT_EQ(nodes_of(planned({kClosed})), Nodes{});
    auto plan = planned({kClosed, "on"});
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("you may not open /dev/dri/renderD128"), std::string::npos);
}

TEST(Gpu, TheAdministratorsDenyWins) {
    const std::string deny = "[devices]\ndeny = ['/dev/nvidia1', '/dev/nvidia-uvm-tools']\n";
    auto plan = planned({.nodes = kNvidia, .admin = deny});
    EXPECT_EQ(nodes_of(plan),
              (Nodes{"/dev/nvidia-caps/nvidia-cap2", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"}));
    auto refused = planned({.nodes = kNvidia, .gpu = "on", .admin = "[devices]\ndeny = ['/dev/nvidia*']\n"});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("devices.deny"), std::string::npos);
}

TEST(Gpu, LibrariesWithoutNodesAreSaid) {
    constexpr std::string_view kLibrary = "f /usr/lib/x86_64-linux-gnu/libcuda.so.1\n";
    EXPECT_TRUE(says(*planned({kLibrary}), "libcuda.so.1 is visible, but no GPU is in the jail"));
    EXPECT_TRUE(says(*planned({.nodes = "", .variables = {"CUDA_VISIBLE_DEVICES=0"}}),
                     "CUDA_VISIBLE_DEVICES is set"));
    EXPECT_FALSE(says(*planned({.nodes = "", .variables = {"CUDA_VISIBLE_DEVICES=-1"}}), "GPU"));
    EXPECT_FALSE(says(*planned({kLibrary, "off"}), "GPU"));
}

TEST(Gpu, AMissingMemoryNodeOfCudaIsSaid) {
    EXPECT_TRUE(says(*planned({"c /dev/nvidia0\nc /dev/nvidiactl\n"}), "nvidia-modprobe"));
    EXPECT_FALSE(says(*planned({kNvidia}), "nvidia-modprobe"));
}

TEST(Gpu, WhatCountsTheGpusOfTheMachineCountsThoseOfTheJailInside) {
    auto value = [](std::string list, std::string visible) -> std::string {
        auto plan = planned({.nodes = kNvidia,
                             .variables = {"SLURM_JOB_GPUS=" + list, "CUDA_VISIBLE_DEVICES=" + visible},
                             .slurm_job = "7"});
        if (!plan) return plan.error().line();
        auto found =
            std::ranges::find(plan->environment.passed, "CUDA_VISIBLE_DEVICES", &plan::Variable::name);
        return found == plan->environment.passed.end() ? "absent" : found->value;
    };
    EXPECT_EQ(value("1", "1"), "0");
    EXPECT_EQ(value("1", "0"), "0");
    EXPECT_EQ(value("0,1", "1"), "1");
    EXPECT_EQ(value("1", "GPU-abc"), "GPU-abc");
}

}  // namespace
