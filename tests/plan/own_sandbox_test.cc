// SPDX-License-Identifier: MIT
#include "plan/print/own_sandbox.h"

#include <gtest/gtest.h>

namespace plan {
namespace {

std::string line_for(std::vector<std::string> command, bool is_nested = false) {
    plan::Plan plan;
    plan.command = std::move(command);
    plan.system_calls.allow_nested_namespaces = is_nested;
    return line_about_own_sandbox(plan);
}

TEST(OwnSandbox, NamesTheOptionOfABrowser) {
    for (const char* program : {"chromium", "/usr/bin/chromium", "./google-chrome"}) {
        std::string line = line_for({program, "--headless"});
        EXPECT_NE(line.find("--no-sandbox"), std::string::npos) << program;
        EXPECT_NE(line.find("isolation.allow_nested_namespaces = true"), std::string::npos) << program;
    }
    EXPECT_EQ(line_for({"chromium", "--no-sandbox"}), "");
    EXPECT_EQ(line_for({"chromium"}, true), "");
}

TEST(OwnSandbox, NamesTheWayToContainers) {
    for (bool is_nested : {false, true}) {
        std::string line = line_for({"podman", "run", "--rm", "image"}, is_nested);
        EXPECT_NE(line.find("--dangerous-socket"), std::string::npos);
        EXPECT_NE(line.find("podman --remote"), std::string::npos);
    }
    EXPECT_EQ(line_for({"podman", "--remote", "ps"}), "");
    EXPECT_EQ(line_for({"podman", "--url=unix:///run/podman.sock", "ps"}), "");
}

TEST(OwnSandbox, NamesTheWayToContainersWhereverTheyAreStarted) {
    EXPECT_NE(line_about_containers({"buildah", "from", "x"}).find("buildah --remote"), std::string::npos);
    EXPECT_EQ(line_about_containers({"podman", "--remote", "ps"}), "");
    EXPECT_EQ(line_about_containers({}), "");
}

TEST(OwnSandbox, NamesTheSettingForNamespaces) {
    EXPECT_NE(line_for({"bwrap", "true"}).find("isolation.allow_nested_namespaces"), std::string::npos);
    EXPECT_EQ(line_for({"bwrap", "true"}, true), "");
}

TEST(OwnSandbox, HasNoLineForOtherPrograms) {
    for (const char* program : {"", "/", "make", "chromium.sh", "podman-compose", "CHROMIUM"})
        EXPECT_EQ(line_for({program}), "") << program;
    EXPECT_EQ(line_for({}), "");
    EXPECT_EQ(line_for({"env", "chromium"}), "") << "only the command itself";
}

TEST(RefusedNamespaces, NamesTheOptionOfABrowserAndDoesNotProposeTheSetting) {
    for (const char* program : {"chromium", "chrome", "headless_shell"}) {
        RefusedNamespaces refused = refused_namespaces(program);
        EXPECT_NE(refused.line.find(std::string("add --no-sandbox to ") + program), std::string::npos);
        EXPECT_NE(refused.line.find("isolation.allow_nested_namespaces = true (less protection)"),
                  std::string::npos);
        EXPECT_NE(refused.reason.find("--no-sandbox"), std::string::npos);
        EXPECT_EQ(refused.change, "");
    }
}

TEST(RefusedNamespaces, NamesTheWayToContainers) {
    RefusedNamespaces refused = refused_namespaces("podman");
    EXPECT_NE(refused.line.find("--dangerous-socket SOCKET and podman --remote"), std::string::npos);
    EXPECT_EQ(refused.change, "") << "the setting does not help";
}

TEST(RefusedNamespaces, NamesTheSettingForAnyOtherProgram) {
    for (const char* program : {"bwrap", "unshare", "python3.11"}) {
        RefusedNamespaces refused = refused_namespaces(program);
        EXPECT_TRUE(refused.line.starts_with(std::string(program) + " was refused namespaces"));
        EXPECT_EQ(refused.change, "isolation.allow_nested_namespaces = true");
    }
}

// The digest cuts a reason at 120 bytes.
TEST(RefusedNamespaces, HaveAReasonThatFitsTheDigest) {
    for (const char* program : {"google-chrome-stable", "podman", "bwrap"})
        EXPECT_LE(refused_namespaces(program).reason.size(), 120u) << program;
}

TEST(RefusedNamespaces, PrintNoByteOfAHostileName) {
    RefusedNamespaces refused = refused_namespaces("x\x1b[2J\ny");
    EXPECT_EQ(refused.line.find_first_of("\x1b\n"), std::string::npos);
}

}  // namespace
}  // namespace plan
