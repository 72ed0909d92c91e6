// SPDX-License-Identifier: MIT
#include "modules/command.h"

#include <gtest/gtest.h>

namespace modules {
namespace {

host::Node node(host::Kind kind, uint32_t mode, uint32_t owner) {
    return {.kind = kind, .mode = mode, .owner = owner, .group = 0, .link = {}};
}

// Adds a program and its directories, which belong to `owner`; the top-level one belongs to root.
void add(host::MemoryTree& tree, std::string_view path, uint32_t owner, uint32_t mode = 0755) {
    const base::Path program = base::Path::known(path);
    for (base::Path place = program.parent(); !place.is_root(); place = place.parent())
        tree.add(place, node(host::Kind::directory, 0755, place.depth() == 1 ? 0 : owner));
    tree.add(base::Path(), node(host::Kind::directory, 0755, 0));
    tree.add(program, node(host::Kind::file, mode, owner));
}

std::string found(const host::MemoryTree& tree, const std::vector<std::string>& environment,
                  const std::optional<Pinned>& pinned = std::nullopt) {
    base::Result<base::Path> command = find_command(tree, environment, pinned);
    return command ? command->str() : command.error().what;
}

constexpr std::string_view kLmod = "/usr/share/lmod/lmod/libexec/lmod";

TEST(ModuleCommand, IsFoundByVariablesThenInTheUsualPlaces) {
    host::MemoryTree tree;
    add(tree, kLmod, 0);
    add(tree, "/opt/site/lmod/libexec/lmod", 0);
    EXPECT_EQ(found(tree, {}), kLmod);
    EXPECT_EQ(found(tree, {"LMOD_CMD=/opt/site/lmod/libexec/lmod"}), "/opt/site/lmod/libexec/lmod");
    EXPECT_EQ(found(tree, {"LMOD_PKG=/opt/site/lmod"}), "/opt/site/lmod/libexec/lmod");
    EXPECT_EQ(found(tree, {"MODULESHOME=/opt/site/lmod"}), "/opt/site/lmod/libexec/lmod");
    EXPECT_EQ(found(tree, {"LMOD_CMD=/nowhere", "LMOD_DIR=relative"}), kLmod);
}

TEST(ModuleCommand, IsNobodysButRoots) {
    host::MemoryTree tree;
    add(tree, kLmod, 0);
    add(tree, "/home/ann/lmod", 1000);
    EXPECT_NE(found(tree, {"LMOD_CMD=/home/ann/lmod"}).find("does not belong to root"), std::string::npos);
    host::MemoryTree open;
    add(open, kLmod, 0, 0777);
    EXPECT_NE(found(open, {}).find("writable by others"), std::string::npos);
}

TEST(ModuleCommand, IsAnyonesWhomTheAdministratorNames) {
    host::MemoryTree tree;
    add(tree, "/sw/lmod", 777);
    const base::Path path = base::Path::known("/sw/lmod");
    EXPECT_EQ(found(tree, {}, Pinned{path, true}), "/sw/lmod");
    EXPECT_NE(found(tree, {}, Pinned{path, false}).find("does not belong to root"), std::string::npos);
    EXPECT_NE(found(tree, {}, Pinned{base::Path::known("/sw/none"), true}).find("is not a program"),
              std::string::npos);
}

TEST(ModuleCommand, MayBeMissing) {
    EXPECT_NE(found(host::MemoryTree(), {}).find("no module command"), std::string::npos);
}

}  // namespace
}  // namespace modules
