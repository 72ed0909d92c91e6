// SPDX-License-Identifier: MIT
// What a sandbox.conf says under a condition must not become a setting, and no restriction may be lost in
// silence, however the file is written.
#include <gtest/gtest.h>

#include <random>

#include "config/import_bash.h"
#include "config/import_support.h"

namespace {

using config::Imported;
using testing_support::entries;
using testing_support::scalar;
using testing_support::Texts;

TEST(ImportBash, LeavesOutWhatACompoundCommandHolds) {
    for (const char* script :
         {"[[ $HOSTNAME == laptop ]] &&\nHOME_ACCESS=write", "[[ $A ]] ||  # why\n\nHOME_ACCESS=write",
          "cat x |\nHOME_ACCESS=write", "[[ $HOSTNAME == laptop ]] &&{\nHOME_ACCESS=write\n}",
          "case $H in\nlogin*) if true; then :; fi\n;;\nlaptop)\nHOME_ACCESS=write\n;;\nesac",
          "if { [[ $A == 1 ]] || [[ $B == 1 ]]; }; then\nHOME_ACCESS=write\nfi",
          "time if true; then\nHOME_ACCESS=write\nfi", "case $H in\nx) {\nHOME_ACCESS=write\n} ;;\nesac",
          "case $H in x) for i in 1; do\nHOME_ACCESS=write\ndone\nesac",
          "case $H\nin (a|b) while x; do\n:\ndone ;;& c)\nHOME_ACCESS=write\nesac",
          "if [[ $x == { ]]; then\nHOME_ACCESS=write\nfi", "while ! { a; }; do\nHOME_ACCESS=write\ndone < x",
          "if (( x = 1<<3 )); then\nHOME_ACCESS=write\nfi", "f() if a; then\nHOME_ACCESS=write\nfi",
          "if a; then b; elif { c; } then\nHOME_ACCESS=write\nfi",
          "if a; then x=(if then fi); y=$'\\'fi'\nHOME_ACCESS=write\nfi",
          "[[ a\n&& b ]] && {\nHOME_ACCESS=write\n}", "cat <<-E|sort\n E\nHOME_ACCESS=write\n\tE",
          "cat <<E\na\\\nE\nHOME_ACCESS=write\nE"}) {
        Imported imported = config::import_bash(std::string(script) + "\nPRIVATE_TMP=true\n");
        EXPECT_EQ(scalar(imported, "home.access"), "(none)") << script;
        EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "true") << script;
        EXPECT_GE(imported.left_out.size(), 1u) << script;
    }
    for (const char* guard : {"[[ $X ]]||return", "[[ $X ]] &&{ return;}", "false||\nreturn"}) {
        Imported imported = config::import_bash(std::string(guard) + "\nHOME_ACCESS=write\n");
        EXPECT_EQ(scalar(imported, "home.access"), "(none)") << guard;
    }
}

// Where the reading went wrong, nothing is certain: not what stands before either.
TEST(ImportBash, AFileThatClosesWhatNothingOpensGivesNoSettings) {
    for (const char* script :
         {"X=$(case a in a)\nHOME_ACCESS=write\n;; esac)", "( case a in a)\nHOME_ACCESS=write ;;\nesac )",
          "X=$( # a)\nHOME_ACCESS=write\n)", "HOME_ACCESS=write\nfi", "HOME_ACCESS=write\n}",
          "HOME_ACCESS=write\n;;", "HOME_ACCESS=write\nthen", "HOME_ACCESS=write\nx) y",
          "if a; do\nHOME_ACCESS=write\nfi", "for x do if a; then\nb\nfi\nHOME_ACCESS=write\ndone",
          "coproc C {\nHOME_ACCESS=write\n}"}) {
        Imported imported = config::import_bash(std::string(script) + "\nPRIVATE_TMP=true\n");
        EXPECT_EQ(imported.carried, 0u) << script;
        EXPECT_GE(imported.left_out.size(), 2u) << script;
    }
    Imported open = config::import_bash("PRIVATE_TMP=true\nif a; then\nHOME_ACCESS=write\n");
    EXPECT_EQ(scalar(open, "home.access"), "(none)");
    EXPECT_EQ(scalar(open, "isolation.private_tmp"), "true");
    ASSERT_EQ(open.left_out.size(), 1u);
    EXPECT_NE(open.left_out[0].reason.find("never closed"), std::string::npos);
}

// A body that is nested at random, with a setting in each.
std::string compound(std::mt19937& random, int depth) {
    static constexpr const char* kForms[] = {"if a; then\n%fi\n",
                                             "if a\nthen :\nelif b; then %else\n%fi\n",
                                             "while { a; }; do\n%done\n",
                                             "until ! a; do %done >x 2>&1\n",
                                             "for i in if do fi; do\n%done\n",
                                             "for ((i = 0; i < 1<<2; i++)); do\n%done\n",
                                             "case $x in\na) %;;\n(b|c)\n%;;\n*) : ;;\nesac\n",
                                             "case if in if) %;& x) %esac\n",
                                             "{\n%}\n",
                                             "[[ $a == '{' ]] &&{\n%}\n",
                                             "[ a ]||\n{ %}\n",
                                             "f() {\n%}\n",
                                             "function g {\n%}\n",
                                             "(\n%)\n",
                                             "time {\n%} | cat\n",
                                             "[[ $a =~ (b|c) ]] && if d; then\n%fi\n"};
    std::string text;
    for (char letter : std::string_view(kForms[random() % std::size(kForms)])) {
        if (letter != '%') {
            text += letter;
            continue;
        }
        text += "HOME_ACCESS=write\n";
        if (depth > 0 && random() % 3 != 0) text += compound(random, depth - 1);
        if (random() % 2 == 0) text += "READONLY_MOUNTS+=(/a) # it's\n";
    }
    return text;
}

TEST(ImportBash, NoSettingComesOutOfACompoundCommand) {
    std::mt19937 random(31);
    int understood = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string script = compound(random, 4);
        Imported imported = config::import_bash(script + "PRIVATE_TMP=true\n");
        ASSERT_EQ(scalar(imported, "home.access"), "(none)") << script;
        ASSERT_EQ(entries(imported, "mounts.readonly"), Texts{}) << script;
        if (scalar(imported, "isolation.private_tmp") == "true") ++understood;
    }
    EXPECT_GT(understood, 2000);
}

TEST(ImportBash, NoRestrictionIsLostInSilence) {
    EXPECT_EQ(entries(config::import_bash("EXTRA_BLOCKED_PATHS=(/a /b)\nEXTRA_BLOCKED_PATHS+=/more\n"),
                      "mounts.hidden"),
              (Texts{"/a/more", "/b"}));
    EXPECT_EQ(scalar(config::import_bash("(( x = 1<<3 ))\nPRIVATE_TMP=true\n"), "isolation.private_tmp"),
              "true");
    Imported here = config::import_bash("cat <<END\nPRIVATE_TMP=true\n");
    ASSERT_EQ(here.left_out.size(), 1u);
    EXPECT_NE(here.left_out[0].reason.find("never closed"), std::string::npos);
}

TEST(ImportBash, SingleElementsAreReplacedOrLeftOut) {
    for (const char* line : {"unset 'ALLOWED_ENV_VARS[1]'", "unset ALLOWED_ENV_VARS[0]", "unset \"$x\"",
                             "ALLOWED_ENV_VARS[-1]=C", "ALLOWED_ENV_VARS[i]=C", "ALLOWED_ENV_VARS[7]=C",
                             "ALLOWED_ENV_VARS[0]+=C"}) {
        Imported imported = config::import_bash("ALLOWED_ENV_VARS=(A B)\n" + std::string(line) + "\n");
        EXPECT_EQ(entries(imported, "env.allow"), Texts{}) << line;
        EXPECT_GE(imported.left_out.size(), 1u) << line;
    }
    EXPECT_EQ(entries(config::import_bash("ALLOWED_ENV_VARS=(A B)\nALLOWED_ENV_VARS[0]=C\n"), "env.allow"),
              (Texts{"C", "B"}));
    EXPECT_EQ(entries(config::import_bash("ALLOWED_ENV_VARS=(A)\nunset 'ALLOWED_ENV_VARS'\n"), "env.allow"),
              Texts{});
}

TEST(ImportBash, VariablesThatGrowAreLeftOut) {
    std::string doubled = "X=aaaaaaaaaa\n", copied = "X=(a a a a)\n", added = "READONLY_MOUNTS=(/x)\n";
    for (int i = 0; i < 60; ++i) {
        doubled += "X=$X$X\n";
        copied += "X=(\"${X[@]}\" \"${X[@]}\")\n";
    }
    for (int i = 0; i < 30000; ++i)
        added += "READONLY_MOUNTS=(\"${READONLY_MOUNTS[@]}\" /x" + std::to_string(i) + ")\n";
    EXPECT_EQ(config::import_bash(doubled + "HOME_READONLY=($X)\n").carried, 0u);
    EXPECT_EQ(config::import_bash(copied + "ALLOWED_ENV_VARS=(\"${X[@]}\")\n").carried, 0u);
    EXPECT_GE(config::import_bash(added).left_out.size(), 1u);
    std::string many = "X=(" + std::string(4000, 'a') + ")\nY=(";
    for (int i = 0; i < 2000; ++i) many += "a ";
    many += ")\n";
    for (int i = 0; i < 50000; ++i) many += "Z" + std::to_string(i) + "=(\"${Y[@]}\")\n";
    EXPECT_GE(config::import_bash(many).left_out.size(), 1u);
    std::string braces = "READONLY_MOUNTS=(";
    for (int i = 0; i < 60; ++i) braces += "/" + std::string(14000, 'a') + "{1,2}{1,2}{1,2}{1,2}{1,2}{1,2} ";
    EXPECT_LT(config::import_bash(braces + ")\n").toml.size(), 2u << 20);
}

TEST(ImportBash, AnEscapedBlankStartsNoComment) {
    EXPECT_EQ(entries(config::import_bash("READONLY_MOUNTS=(/a\\ #b /c)\n"), "mounts.readonly"),
              (Texts{"/a #b", "/c"}));
    EXPECT_EQ(entries(config::import_bash("READONLY_MOUNTS=(/a #b /c\n)\n"), "mounts.readonly"),
              (Texts{"/a"}));
}

}  // namespace
