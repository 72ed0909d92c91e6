// SPDX-License-Identifier: MIT
#include "plan/project/git.h"

#include <gtest/gtest.h>

namespace {

std::string read(std::string_view text) {
    std::string all;
    for (const plan::GitSetting& setting : plan::parse_git_config(text))
        all += setting.key + "=" + setting.value + "|";
    return all;
}

TEST(GitConfig, SectionsWithAndWithoutAPartInTheMiddle) {
    EXPECT_EQ(read("[core]\n\tBare = false\n[remote \"Origin\"]\n\turl = x\n[branch.main]\nrebase=1\n"),
              "core.bare=false|remote.Origin.url=x|branch.main.rebase=1|");
}

TEST(GitConfig, AByteOrderMarkIsSkipped) {
    EXPECT_EQ(read("\xef\xbb\xbf[core]\n\tbare = false\n"), "core.bare=false|");
}

TEST(GitConfig, QuotesEscapesCommentsAndContinuedLines) {
    EXPECT_EQ(read("[a]\n# x = 1\n; y = 2\nb = \" c \" # d\ne = f\\\ng\nh = \"#\"\ni = \\\"j\\\"\n"),
              "a.b= c |a.e=fg|a.h=#|a.i=\"j\"|");
}

TEST(GitConfig, AnAssignmentOnTheLineOfItsSection) {
    EXPECT_EQ(read("[core] hooksPath = x"), "core.hookspath=x|");
}

TEST(GitConfig, ANameAloneIsTrue) {
    EXPECT_EQ(read("[core]\nbare\n"), "core.bare=true|");
}

TEST(GitConfig, BlanksAroundValuesDoNotCount) {
    EXPECT_EQ(read("[a]\r\n b =  c  \r\n"), "a.b=c|");
}

TEST(GitConfig, WrittenAgainItSaysTheSame) {
    for (std::string_view text :
         {"[core]\nbare\n", "[remote \"a.b \\\"c\\\\\"]\nurl = \" x#\\\"y\\n\"\n[a]\nb = c\nb = d\n"}) {
        EXPECT_EQ(read(plan::git_config_text(plan::parse_git_config(text))), read(text));
    }
}

TEST(GitConfig, BrokenTextEndsAndGivesWhatItCan) {
    for (std::string_view text : {"[", "[a \"", "[a]\nb = \"", "[a]\nb = \\", "]", "=", "[a]\n="}) read(text);
    EXPECT_EQ(read("[a\nb = c\n"), "a.b=c|");
    EXPECT_EQ(read("[a \"b\\\nc = d\n"), "a.b.c=d|");
}

TEST(GitConfig, SettingsThatRunProgramsAreToldFromHarmlessOnes) {
    auto runs = [](std::string key, std::string value) {
        return plan::program_row({std::move(key), std::move(value)}) != nullptr;
    };
    EXPECT_TRUE(runs("core.fsmonitor", "/tmp/x"));
    EXPECT_TRUE(runs("filter.lfs.clean", "x"));
    EXPECT_TRUE(runs("alias.st", "!sh"));
    EXPECT_TRUE(runs("submodule.a.update", "!sh"));
    EXPECT_FALSE(runs("core.fsmonitor", "true"));
    EXPECT_FALSE(runs("alias.st", "status"));
    EXPECT_FALSE(runs("submodule.a.update", "rebase"));
    EXPECT_FALSE(runs("user.name", "x"));
}

}  // namespace
