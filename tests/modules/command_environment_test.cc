// SPDX-License-Identifier: MIT
#include "modules/command.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace modules {
namespace {

host::MemoryTree site() {
    base::Result<host::MemoryTree> tree = host::MemoryTree::parse(
        "d /lustre/ann/project/bin\n"
        "l /scratch /lustre\n"
        "d /home/ann\n"
        "d /usr/bin\n"
        "d /opt/modules\n");
    EXPECT_TRUE(tree);
    return *std::move(tree);
}

const std::vector<base::Path> kWritable = {base::Path::known("/lustre/ann/project")};

bool has(const CommandEnvironment& prepared, const std::string& entry) {
    return std::ranges::find(prepared.variables, entry) != prepared.variables.end();
}

TEST(CommandEnvironment, HoldsBackWhatTheJailMayWrite) {
    CommandEnvironment made =
        make_command_environment(site(),
                                 {"PATH=/lustre/ann/project/bin:/usr/bin:/scratch/ann/project/bin:/bin",
                                  "MODULEPATH=/scratch/ann/project", "LUA_PATH=/lustre/ann/project/?.lua;;",
                                  "PWD=/lustre/ann/project", "OTHER=/lustre/ann/projects"},
                                 kWritable);
    EXPECT_TRUE(has(made, "PATH=/usr/bin:/bin"));
    EXPECT_TRUE(has(made, "PWD=/lustre/ann/project"));
    EXPECT_TRUE(has(made, "OTHER=/lustre/ann/projects"));
    EXPECT_TRUE(std::ranges::none_of(made.variables, [](const std::string& entry) {
        return entry.starts_with("MODULEPATH=") || entry.starts_with("LUA_PATH=");
    }));
}

TEST(CommandEnvironment, HoldsBackListsWithOtherSeparators) {
    for (const char* value : {"LUA_PATH=/lustre/ann/project2/?.lua;/lustre/ann/project/?.lua",
                              "LUA_PATH=/opt/modules/?.lua;/scratch/ann/project/?.lua;;",
                              "FLAGS=-I/opt/a -I/scratch/ann/project/b",
                              "LUA_PATH=/opt/modules/?.lua;/lustre/ann/project;/opt/?.lua"}) {
        EXPECT_FALSE(has(make_command_environment(site(), {value}, kWritable), value)) << value;
    }
    for (const char* control : {"LUA_PATH=/lustre/ann/project2/?.lua;/lustre/ann/projects/?.lua",
                                "LUA_PATH=/opt/modules/?.lua;;", "FLAGS=-I/opt/a -I/scratch/ann/b"}) {
        EXPECT_TRUE(has(make_command_environment(site(), {control}, kWritable), control)) << control;
    }
}

TEST(CommandEnvironment, ALinkThatTheJailCanMoveCounts) {
    base::Result<host::MemoryTree> tree = host::MemoryTree::parse(
        "d /home/ann/project\nd /opt/modules\nl /home/ann/project/hop /opt/modules\n"
        "l /home/ann/second /home/ann/project/hop\n");
    ASSERT_TRUE(tree);
    const std::vector<base::Path> writable = {base::Path::known("/home/ann/project")};
    const std::string through = "MODULEPATH=/home/ann/second", straight = "MODULEPATH=/opt/modules";
    EXPECT_FALSE(has(make_command_environment(*tree, {through}, writable), through));
    EXPECT_TRUE(has(make_command_environment(*tree, {straight}, writable), straight));
}

TEST(CommandEnvironment, GivesBackWhatWasHeldBackAtItsPlace) {
    CommandEnvironment made = make_command_environment(
        site(), {"PATH=/lustre/ann/project/bin:/usr/bin:/scratch/ann/project/bin"}, kWritable);
    EXPECT_EQ(with_withheld("PATH", "/opt/new:/usr/bin", made.withheld),
              "/opt/new:/lustre/ann/project/bin:/usr/bin:/scratch/ann/project/bin");
    EXPECT_EQ(with_withheld("OTHER", "/opt/new", made.withheld), "/opt/new");
}

TEST(CommandEnvironment, HasNoStartUpFilesAndNoSettings) {
    CommandEnvironment made = make_command_environment(
        site(),
        {"BASH_ENV=/home/ann/.evil", "ENV=/home/ann/.evil", "BASH_FUNC_module%%=() { :; }", "LUA_INIT=x",
         "LUA_INIT_5_3=x", "LD_PRELOAD=/home/ann/x.so", "AGENT_SANDBOX_NETWORK_MODE=open", "LMOD_PAGER=less",
         "LANG=C"},
        kWritable);
    EXPECT_EQ(made.variables, (std::vector<std::string>{"LANG=C", "LMOD_PAGER=none", "LMOD_COLORIZE=no"}));
}

TEST(CommandEnvironment, DoNotRunCachesThatTheJailMayWrite) {
    const std::vector<std::string> environment = {"HOME=/home/ann", "LMOD_IGNORE_CACHE=no"};
    EXPECT_FALSE(has(make_command_environment(site(), environment, kWritable), "LMOD_IGNORE_CACHE=yes"));
    for (const char* place : {"/home/ann", "/home/ann/.cache", "/home/ann/.lmod.d"}) {
        CommandEnvironment made = make_command_environment(site(), environment, {base::Path::known(place)});
        EXPECT_EQ(made.variables.front(), "LMOD_IGNORE_CACHE=yes") << place;
        EXPECT_TRUE(has(made, "HOME=/home/ann"));
    }
}

}  // namespace
}  // namespace modules
