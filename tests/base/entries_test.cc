// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/temporary_directory.h"

namespace {

base::Fd open_directory(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST(Entries, AreAllVisitedButTheDirectoryItself) {
    testing_support::TemporaryDirectory directory;
    std::set<std::string> expected;
    for (int i = 0; i < 2000; ++i) {
        expected.insert(std::string(40, 'n') + std::to_string(i));
        directory.write(std::string(40, 'n') + std::to_string(i), "");
    }
    std::set<std::string> found;
    base::Fd fd = open_directory(directory.path());
    EXPECT_TRUE(base::visit_entries(
        fd.get(), [&](const struct dirent64& entry) { return found.insert(entry.d_name).second; }));
    EXPECT_EQ(found, expected);
}

TEST(Entries, AVisitorEndsTheVisit) {
    testing_support::TemporaryDirectory directory;
    for (const char* name : {"a", "b", "c"}) directory.write(name, "");
    int visited = 0;
    base::Fd fd = open_directory(directory.path());
    EXPECT_TRUE(base::visit_entries(fd.get(), [&](const struct dirent64&) { return ++visited < 2; }));
    EXPECT_EQ(visited, 2);
}

TEST(Entries, WhatIsNoDirectoryCannotBeRead) {
    EXPECT_FALSE(base::visit_entries(-1, [](const struct dirent64&) { return true; }));
}

}  // namespace
