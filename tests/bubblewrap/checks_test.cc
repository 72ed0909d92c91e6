// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/render.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"

namespace {

using backends::bubblewrap::make_checks;
using base::Path;
using plan::Mount;
using plan::MountKind;
using testing_support::TemporaryDirectory;

Mount bind(MountKind kind, const std::string& path, bool is_pinned = false) {
    return Mount{.kind = kind, .target = Path::known(path), .source = path, .is_pinned = is_pinned};
}

TEST(MakeChecks, PinnedAndWhatLiesInAWritablePart) {
    TemporaryDirectory directory;
    std::string file = directory.write("p/hooks", "x");
    plan::Plan plan;
    plan.mounts = {bind(MountKind::bind_readonly, "/usr"),
                   bind(MountKind::bind_writable, directory / "p", true),
                   bind(MountKind::bind_readonly, file),
                   Mount{.kind = MountKind::empty_file, .target = Path::known(directory / "p/.env")},
                   Mount{.kind = MountKind::tmpfs, .target = Path::known("/scratch")}};
    base::Result<std::vector<inner::Check>> checks = make_checks(plan);
    ASSERT_TRUE(checks) << checks.error().line();
    ASSERT_EQ(checks->size(), 3u);
    struct stat status;
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    const inner::Check& hooks = (*checks)[1];
    EXPECT_EQ(hooks.target, file);
    EXPECT_TRUE(hooks.is_readonly);
    EXPECT_EQ(hooks.inode, status.st_ino);
    EXPECT_EQ(hooks.device, status.st_dev);
    EXPECT_FALSE((*checks)[0].is_readonly);
    EXPECT_TRUE((*checks)[2].is_readonly);
    EXPECT_FALSE((*checks)[2].has_identity);
}

TEST(MakeChecks, ALinkInASourceIsRefused) {
    TemporaryDirectory directory;
    directory.write("real/x", "");
    std::filesystem::create_symlink("real", directory / "link");
    plan::Plan plan;
    plan.mounts = {bind(MountKind::bind_readonly, directory / "link/x", true)};
    EXPECT_FALSE(make_checks(plan));
    plan.mounts = {bind(MountKind::bind_readonly, directory / "real/x", true)};
    EXPECT_TRUE(make_checks(plan));
}

}  // namespace
