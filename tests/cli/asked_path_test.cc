// SPDX-License-Identifier: MIT
#include "cli/sessions/asked_path.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace cli {
namespace {

base::Path path(std::string_view text) {
    return base::Path::known(text);
}

// Threat: a look at the path starts the automounter, which sends requests to the host of that name.
TEST(UnmountedTree, DoesNotLookBehindAnAutomounter) {
    const UnmountedTree tree(
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 21 0:40 / /net rw - autofs -hosts rw\n"
        "31 21 0:41 / /home rw - autofs auto.home rw\n"
        "32 31 0:42 / /home/me rw master:1 - nfs4 server:/me rw\n"
        "33 21 0:43 / /a\\040b rw - autofs x rw\n"
        "damaged\n");
    EXPECT_TRUE(tree.would_mount(path("/net/evil.example/share")));
    EXPECT_TRUE(tree.would_mount(path("/home/other")));
    EXPECT_TRUE(tree.would_mount(path("/a b/c")));
    EXPECT_FALSE(tree.would_mount(path("/home/me/data")));
    EXPECT_FALSE(tree.would_mount(path("/nets")));
    EXPECT_FALSE(tree.look(path("/net")));
    EXPECT_TRUE(tree.look(path("/usr")));
}

TEST(UnmountedTree, ResolvesNoLinkThatLeadsThere) {
    char pattern[] = "/tmp/agent-sandbox-asked.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    const std::string root = pattern;
    std::filesystem::create_directory(root + "/auto");
    std::filesystem::create_symlink(root + "/auto", root + "/link");
    const UnmountedTree with("21 1 8:1 / / rw - ext4 x rw\n30 21 0:40 / " + root +
                             "/auto rw - autofs x rw\n");
    base::Result<host::Tree::Resolved> resolved = with.resolve(path(root + "/link"));
    ASSERT_TRUE(resolved);
    EXPECT_FALSE(resolved->exists);
    const UnmountedTree without("21 1 8:1 / / rw - ext4 x rw\n");
    resolved = without.resolve(path(root + "/link"));
    ASSERT_TRUE(resolved);
    EXPECT_TRUE(resolved->exists) << "the control";
    std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace cli
