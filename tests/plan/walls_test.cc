// SPDX-License-Identifier: MIT
#include <algorithm>

#include "plan/case.h"

namespace {

using base::Path;

bool holds(const std::vector<Path>& places, std::string_view path) {
    return std::ranges::find(places, Path::known(path)) != places.end();
}

const plan::Control& control(const plan::Plan& plan, std::string_view name) {
    static const plan::Control none;
    auto found = std::ranges::find(plan.controls, name, &plan::Control::name);
    if (found == plan.controls.end()) ADD_FAILURE() << "no control " << name;
    return found == plan.controls.end() ? none : *found;
}

TEST(Confinement, TheSecondWallGivesWhatTheRulesCallWritable) {
    auto plan = test::planned({});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    const plan::SecondWall& wall = plan->second_wall;
    EXPECT_TRUE(wall.guards_files);
    for (const char* place : {"/tmp", "/var/tmp", "/dev/shm", "/home/ann"})
        EXPECT_TRUE(holds(wall.writable, place)) << place;
    for (const char* place : {"/dev", "/proc"}) EXPECT_TRUE(holds(wall.used, place)) << place;
    for (const Path& place : wall.writable)
        EXPECT_FALSE(place.is_root() || place == Path::known("/usr")) << place.str();
    // The project is in a directory that is already granted.
    EXPECT_FALSE(holds(wall.writable, "/home/ann/app"));
}

TEST(Confinement, WithARestrictedHomeOnlyTheProjectIsGiven) {
    auto plan = test::planned({.toml = {.user = "[home]\naccess = \"restricted\"\n"}});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_FALSE(holds(plan->second_wall.writable, "/home/ann"));
    EXPECT_TRUE(holds(plan->second_wall.writable, "/home/ann/app"));
}

TEST(Confinement, AProjectToReviewIsNotGiven) {
    auto plan =
        test::planned({.toml = {.user = "[home]\naccess = \"restricted\"\n[project]\nread_only = true\n"}});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_FALSE(holds(plan->second_wall.writable, "/home/ann/app"));
}

TEST(Confinement, SettingsBecomeSwitches) {
    auto plan = test::planned({.toml = {.user = "[isolation]\nallow_perf = true\nallow_ptrace = false\n"}});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_TRUE(plan->system_calls.allow_perf);
    EXPECT_FALSE(plan->system_calls.allow_ptrace);
    EXPECT_FALSE(plan->system_calls.allow_nested_namespaces);
}

// Landlock forbids mounts to a process with rules about files, even in a namespace of its own.
TEST(Confinement, WhoNestsHasNoRulesAboutFiles) {
    auto plan = test::planned({.toml = {.user = "[isolation]\nallow_nested_namespaces = true\n"}});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_FALSE(plan->second_wall.guards_files);
    EXPECT_TRUE(control(*plan, "second wall").detail.find("allow_nested_namespaces") != std::string::npos);
}

TEST(Confinement, AKernelWithoutLandlockIsSaidAndNotRefused) {
    auto plan = test::planned({});
    ASSERT_TRUE(plan.ok()) << plan.error().line();
    EXPECT_EQ(control(*plan, "second wall").level, policy::Level::absent);
    EXPECT_FALSE(control(*plan, "second wall").is_asked);
    EXPECT_EQ(control(*plan, "system calls").level, policy::Level::denied);
    EXPECT_TRUE(control(*plan, "system calls").is_asked);
}

}  // namespace
