// SPDX-License-Identifier: MIT
#include "plan/system/explaining_stubs.h"

#include <gtest/gtest.h>

#include "plan/case.h"

namespace {

constexpr std::string_view kStubs = "/run/agent-sandbox/stubs/";

std::vector<std::string> stubs(const std::string& tree, std::vector<std::string> command = {"make"}) {
    test::Case example;
    example.tree += tree;
    example.command = std::move(command);
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    std::vector<std::string> names;
    for (const plan::ExplainedProgram& program : plan::kExplainedPrograms) {
        const std::string path = std::string(kStubs) + std::string(program.name);
        const plan::Mount* mount = plan ? test::mount_at(*plan, path) : nullptr;
        if (mount == nullptr) continue;
        EXPECT_EQ(mount->kind, plan::MountKind::symlink);
        EXPECT_EQ(mount->source, "/run/agent-sandbox/agent-sandbox");
        names.emplace_back(program.name);
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(ExplainingStubs, AreThereForInstalledProgramsAlone) {
    EXPECT_EQ(stubs(""), Names{});
    EXPECT_EQ(stubs("f /usr/bin/ssh\n"), Names{"ssh"});
    EXPECT_EQ(stubs("f /usr/bin/ssh\nf /usr/local/bin/podman\n"), (Names{"ssh", "podman"}));
    EXPECT_EQ(stubs("f /usr/bin/ssh-keygen\nf /usr/bin/podman-compose\n"), Names{});
}

TEST(ExplainingStubs, AreMissingWhereTheStartPrintsTheLine) {
    const std::string tree = "f /usr/bin/ssh\nf /usr/bin/podman\n";
    EXPECT_EQ(stubs(tree, {"podman", "run", "x"}), Names{"ssh"});
    EXPECT_EQ(stubs(tree, {"sh", "-c", "podman run x"}), (Names{"ssh", "podman"}));
    EXPECT_EQ(stubs(tree, {"ssh", "host"}), (Names{"ssh", "podman"})) << "the start has no line about ssh";
}

}  // namespace
