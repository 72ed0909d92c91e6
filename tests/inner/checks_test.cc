// SPDX-License-Identifier: MIT
// Without a jail only the refusals and the host's mounts can be tested; tests/session tests the rest.
#include "inner/preparation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"

namespace {

using inner::Check;

Check identity_of(const std::string& path) {
    struct stat status;
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return Check{.target = path,
                 .has_identity = true,
                 .device = status.st_dev,
                 .inode = status.st_ino,
                 .type = status.st_mode & S_IFMT};
}

TEST(Checks, AMountPointWithItsIdentityPasses) {
    EXPECT_EQ(inner::failure_of(identity_of("/proc")), 0);
}

TEST(Checks, SomethingElseIsStale) {
    Check check = identity_of("/proc");
    ++check.inode;
    EXPECT_EQ(inner::failure_of(check), ESTALE);
}

TEST(Checks, AWritableMountIsNoReadOnlyOne) {
    Check check = identity_of("/proc");
    check.is_readonly = true;
    EXPECT_EQ(inner::failure_of(check), EPERM);
}

TEST(Checks, WhatIsNoMountPointIsRefused) {
    testing_support::TemporaryDirectory directory;
    EXPECT_EQ(inner::failure_of(identity_of(directory.path())), EPERM);
}

// Its own flag proves a read-only mount, wherever the mount begins. Without the flag there is no proof.
TEST(Checks, WhatMustBeReadOnlyIsRefusedWhereItCanBeWritten) {
    testing_support::TemporaryDirectory directory;
    Check check = identity_of(directory.path());
    check.is_readonly = true;
    EXPECT_EQ(inner::failure_of(check), EPERM);
}

TEST(Checks, WhatMustBeSomethingElseIsRefusedWhereItIsTheSame) {
    testing_support::TemporaryDirectory directory;
    for (const std::string& path : {std::string("/proc/self/ns/pid"), directory.path()}) {
        Check check = identity_of(path);
        check.is_other = true;
        EXPECT_EQ(inner::failure_of(check), EEXIST) << path;
        ++check.inode;
        EXPECT_EQ(inner::failure_of(check), 0) << path;
    }
    Check absent = identity_of(directory.path());
    absent.is_other = true;
    absent.target = directory / "absent";
    EXPECT_EQ(inner::failure_of(absent), 0);
}

TEST(Checks, LinksAndNothingAreRefused) {
    testing_support::TemporaryDirectory directory;
    std::filesystem::create_symlink("/proc", directory / "link");
    EXPECT_EQ(inner::failure_of(Check{.target = directory / "link"}), ELOOP);
    EXPECT_EQ(inner::failure_of(Check{.target = directory / "absent"}), ENOENT);
    EXPECT_EQ(inner::failure_of(Check{.target = "relative"}), EINVAL);
}

}  // namespace
