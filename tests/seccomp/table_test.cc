// SPDX-License-Identifier: MIT
#include "seccomp/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/places.h"
#include "seccomp/filter.h"

namespace {

using seccomp::Row;
using seccomp::Switches;

TEST(Table, EveryRowHasAReasonAndEveryConditionAWord) {
    for (const Row& row : seccomp::rows()) {
        EXPECT_FALSE(row.reason.empty()) << row.name;
        EXPECT_EQ(row.when.empty(), row.conditions.empty()) << row.name;
        EXPECT_LE(row.conditions.size(), 6u) << row.name;
    }
}

TEST(Table, IndexAndSwitchesAreTheSame) {
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index)
        EXPECT_EQ(Switches::from_index(index).index(), index);
    EXPECT_EQ(Switches{}.index(), 2u);
}

TEST(Table, EverySwitchIsASetting) {
    using enum seccomp::Switch;
    for (seccomp::Switch which : {nested_namespaces, new_namespaces, trace, perf, keyrings}) {
        EXPECT_TRUE(seccomp::setting_of(which).starts_with("isolation.allow_"));
        bool is_used =
            std::ranges::any_of(seccomp::rows(), [&](const Row& row) { return row.lifted_by == which; });
        EXPECT_TRUE(is_used) << seccomp::setting_of(which);
    }
    EXPECT_EQ(seccomp::setting_of(never), "");
}

TEST(Table, NamesAreSortedAndHoldTheRows) {
    auto names = seccomp::known_names();
    EXPECT_TRUE(std::ranges::is_sorted(names));
    for (const Row& row : seccomp::rows())
        EXPECT_TRUE(std::ranges::binary_search(names, row.name)) << row.name;
    EXPECT_TRUE(std::ranges::binary_search(names, std::string_view("read")));
}

// Threat: a call that the filter leaves to the listener, and that the listener does not refuse, makes a
// namespace. Only these two calls are left to it, and only with a flag.
TEST(Table, OnlyNewNamespacesAreLeftToAListener) {
    const Switches left{.leaves_namespaces_to_listener = true};
    for (const Row& row : seccomp::rows()) {
        bool is_left = left.lifts(row.lifted_by) != Switches{}.lifts(row.lifted_by);
        EXPECT_EQ(is_left, row.when == "a flag for a new namespace") << row.name;
        if (is_left) EXPECT_TRUE(row.name == "clone" || row.name == "unshare") << row.name;
    }
}

// A row without documentation is not finished.
TEST(Table, ThePageNamesEveryCall) {
    auto page = base::read_file(test::data("/../docs/security.md"));
    ASSERT_TRUE(page.ok()) << page.error().line();
    size_t start = page->find("### The filter\n");
    ASSERT_NE(start, std::string::npos);
    std::string section = page->substr(start, page->find("\n### ", start) - start);
    for (const Row& row : seccomp::rows())
        EXPECT_NE(section.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name;
}

}  // namespace
