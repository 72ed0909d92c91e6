// SPDX-License-Identifier: MIT
#include "secrets/outside.h"

#include "secrets/places.h"

namespace secrets {
namespace {

using OutsideTest = test::Places;

TEST_F(OutsideTest, KnowsPlacesByPathLinkAndInode) {
    std::string outside = file("outside/token", "x");
    std::string inside = file("project/deep/token", "x");
    make_writable("project");
    EXPECT_TRUE(check_outside(surroundings_, outside).ok());
    EXPECT_FALSE(check_outside(surroundings_, inside).ok());
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/project/not-yet").ok()) << "the jail could make it";
    EXPECT_TRUE(check_outside(surroundings_, root_ + "/nothing/here").ok());
    // A link outside that leads in, and a link inside that leads out and can be changed.
    std::filesystem::create_symlink(inside, root_ + "/outside/in");
    std::filesystem::create_symlink(outside, root_ + "/project/out");
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/outside/in").ok());
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/project/out").ok());
    // The place is named by a link.
    std::filesystem::create_directory_symlink(root_ + "/outside", root_ + "/alias");
    surroundings_.writable = {base::Path::known(root_ + "/alias")};
    EXPECT_FALSE(check_outside(surroundings_, outside).ok());
    EXPECT_TRUE(check_outside(surroundings_, inside).ok());
}

TEST_F(OutsideTest, EveryLinkOnTheWayCounts) {
    file("keys/token", "x");
    make_writable("project");
    std::filesystem::create_directory_symlink(root_ + "/keys", root_ + "/straight");
    EXPECT_TRUE(check_outside(surroundings_, root_ + "/straight/token").ok()) << "the control";
    // second -> project/hop -> keys: the jail can lead the hop elsewhere.
    std::filesystem::create_directory_symlink(root_ + "/project/hop", root_ + "/second");
    std::filesystem::create_directory_symlink(root_ + "/keys", root_ + "/project/hop");
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/second/token").ok());
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/second/not-yet").ok());
    std::filesystem::create_symlink("second/token", root_ + "/relative");
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/relative").ok());
    // The jail can replace a directory that the way leaves again.
    std::filesystem::create_directories(root_ + "/project/deep");
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/project/deep/../../keys/token").ok());
    std::filesystem::create_symlink(root_ + "/circle", root_ + "/circle");
    EXPECT_FALSE(check_outside(surroundings_, root_ + "/circle").ok());
}

TEST_F(OutsideTest, AHardLinkMayBeInTheJail) {
    std::string token = file("outside/token", "x");
    make_writable("project");
    EXPECT_TRUE(check_outside(surroundings_, token).ok());
    std::filesystem::create_hard_link(token, root_ + "/project/same");
    EXPECT_FALSE(check_outside(surroundings_, token).ok());
}

TEST_F(OutsideTest, FindsProgramsAsTheShellDoes) {
    make_writable("project");
    file("project/bin/tool", "#!/bin/sh\n", 0700);
    file("tools/tool", "#!/bin/sh\n", 0700);
    file("tools/data", "x", 0600);
    auto found = [&](const std::string& path, const std::string& name) {
        surroundings_.environment = {"PATH=" + path};
        return find_program(surroundings_, name);
    };
    EXPECT_EQ(*found(root_ + "/tools:/usr/bin", "tool"), root_ + "/tools/tool");
    EXPECT_EQ(*found("/usr/bin:/bin", root_ + "/tools/tool"), root_ + "/tools/tool");
    EXPECT_FALSE(found(root_ + "/tools", "data").ok()) << "not executable";
    EXPECT_FALSE(found("tools:.", "tool").ok()) << "relative directories do not count";
    base::Result<std::string> jails = found(root_ + "/project/bin:" + root_ + "/tools", "tool");
    ASSERT_FALSE(jails.ok()) << "the shell would take the jail's";
    EXPECT_NE(jails.error().line().find("the jail can write"), std::string::npos);
}

// A session there can make the program before this one starts.
TEST_F(OutsideTest, FindsNoProgramInAnotherProject) {
    make_writable("project");
    const std::string name = "tool";
    auto found = [&](const std::string& path) {
        surroundings_.environment = {"PATH=" + root_ + path + ":" + root_ + "/tools"};
        return find_program(surroundings_, name);
    };
    file("tools/tool", "#!/bin/sh\n", 0700);
    file("home/other/bin/tool", "#!/bin/sh\n", 0700);
    file("home/other/.venv/bin/tool", "#!/bin/sh\n", 0700);
    file("home/.pyenv/bin/tool", "#!/bin/sh\n", 0700);
    surroundings_.home = base::Path::known(root_ + "/home");
    EXPECT_TRUE(found("/home/other/bin").ok()) << "the control: not in a project";
    file("home/other/.venv/pyvenv.cfg", "");
    base::Result<std::string> refused = found("/home/other/.venv/bin");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().line().find("write its path from /"), std::string::npos)
        << refused.error().line();
    file("home/other/.git/HEAD", "");
    EXPECT_FALSE(found("/home/other/bin").ok());
    EXPECT_TRUE(find_program(surroundings_, root_ + "/home/other/bin/tool").ok()) << "the user names it";
    file("home/.git/HEAD", "");
    file("home/.pyenv/.git/HEAD", "");
    EXPECT_TRUE(found("/home/.pyenv/bin").ok()) << "no session works there";
    EXPECT_TRUE(found("/nothing").ok());
}

TEST_F(OutsideTest, TheEnvironmentLeadsNowhereInTheJail) {
    make_writable("project");
    std::string project = root_ + "/project";
    std::filesystem::create_directories(project + "/bin");
    std::filesystem::create_directory_symlink(project + "/bin", root_ + "/link");
    surroundings_.environment = {"PATH=" + project + "/bin:/usr/bin:" + root_ + "/link:.:relative:/bin",
                                 "LD_LIBRARY_PATH=" + project + "/lib",
                                 "LD_PRELOAD=" + project + "/evil.so",
                                 "PWD=" + project,
                                 "GNUPGHOME=" + root_ + "/gnupg",
                                 "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
                                 "LANG=C.UTF-8"};
    EXPECT_EQ(
        environment_for(surroundings_),
        (std::vector<std::string>{"PATH=/usr/bin:/bin", "PWD=" + project, "GNUPGHOME=" + root_ + "/gnupg",
                                  "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", "LANG=C.UTF-8"}));
}

TEST_F(OutsideTest, AVariableThatNamesAPathInTheJailIsDropped) {
    make_writable("project");
    make_writable("a place");
    std::string project = root_ + "/project";
    std::filesystem::create_directory_symlink(project, root_ + "/link");
    const std::vector<std::string> harmless = {"NODE_OPTIONS=--require " + root_ + "/outside/hook.js",
                                               "URL=https://example.org/project", "HOME=" + root_,
                                               "LESS=-R -X"};
    surroundings_.environment = harmless;
    EXPECT_EQ(environment_for(surroundings_), harmless) << "the control";
    for (const std::string& value :
         {"--require " + project + "/hook.js", "--require=" + project + "/hook.js",
          "-r \"" + project + "/hook.js\"", "-javaagent:" + project + "/agent.jar", "-I" + project + "/lib",
          "a,b;" + project, "file://" + project + "/hook.js", "--require " + root_ + "/link/hook.js",
          "--require " + root_ + "/outside/../project/hook.js", "--require " + project.substr(1) + "/hook.js",
          std::string("--require ~/project/hook.js"), "--require '" + root_ + "/a place/hook.js'"}) {
        surroundings_.environment = {"NODE_OPTIONS=" + value};
        // Of "file:/path" the part before the colon may stay.
        for (const std::string& entry : environment_for(surroundings_))
            EXPECT_EQ(entry.find('/'), std::string::npos) << value << " leaves " << entry;
    }
}

}  // namespace
}  // namespace secrets
