// SPDX-License-Identifier: MIT
// Each case was observed with sbatch 22.05 itself: the words are those that it passed to getopt_long, the
// complaints those that it printed.
#include "slurm/options/directives.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& lines) {
    const auto result = directives_of("#!/bin/sh\n" + lines, "script");
    const auto* directives = std::get_if<Directives>(&result);
    EXPECT_NE(directives, nullptr) << lines;
    return directives ? directives->words : Words{};
}

std::string complaint_about(const std::string& lines) {
    const auto result = directives_of("#!/bin/sh\n" + lines, "s.sh");
    const auto* error = std::get_if<UsageError>(&result);
    return error ? error->text : "";
}

std::string denial_of(const std::string& lines) {
    const auto result = directives_of("#!/bin/sh\n" + lines, "s.sh");
    const auto* denial = std::get_if<Denial>(&result);
    return denial ? denial->code : "";
}

TEST(Directives, EndAtTheFirstCommand) {
    EXPECT_EQ(words_of("#SBATCH -n 4 --time=3\necho\n#SBATCH -c 2\n"), (Words{"-n", "4", "--time=3"}));
    EXPECT_EQ(words_of("\n   \n#x\n#SBATCH -n 4\n"), (Words{"-n", "4"}));
    EXPECT_EQ(words_of("#SBATCH -n 4\n   # indented\n#SBATCH -n 5\n\t\n#SBATCH -n6\n: x\n"),
              (Words{"-n", "4", "-n", "5", "-n6"}));
    EXPECT_EQ(words_of("#SBATCH -n6"), (Words{"-n6"}));
    EXPECT_EQ(words_of("#SBATCH -n4\necho\rx\n"), (Words{"-n4"}));
}

TEST(Directives, BeginAtTheLinesStartOnly) {
    EXPECT_EQ(words_of("#SBATCH-n5\n #SBATCH -n6\n##SBATCH -n7\n#sbatch -n5\n#SBATCH\n"), (Words{"-n5"}));
    EXPECT_EQ(words_of("#SBATCHfoo -n5\n"), (Words{"foo", "-n5"}));
    EXPECT_EQ(words_of("#SBATCH\t-n4\t-c2\n"), (Words{"-n4", "-c2"}));
    EXPECT_EQ(words_of("#SBATCH -n\v4\f-c2 -J\ra\n"), (Words{"-n", "4", "-c2", "-J", "a"}));
}

TEST(Directives, LinesOfOtherSchedulersAreComments) {
    EXPECT_EQ(words_of("#PBS -l nodes=2\n#BSUB -n 2\n#SBATCH -n6\necho\n#PBS -N x\n"), (Words{"-n6"}));
}

TEST(Directives, TheOldMarkerWorksWithANotice) {
    const auto result = directives_of("#!/bin/sh\n#SLURM -n4\n#SBATCH -n6\n#SLURM\n", "s.sh");
    const auto& directives = std::get<Directives>(result);
    EXPECT_EQ(directives.words, (Words{"-n4", "-n6"}));
    EXPECT_EQ(
        directives.notice,
        "sbatch: error: Change from #SLURM to #SBATCH in your script and verify the options are valid in "
        "sbatch\n");
}

TEST(Directives, QuotesAndBackslashes) {
    EXPECT_EQ(words_of("#SBATCH   -J \"a b\"  --comment='c d'e\n"), (Words{"-J", "a b", "--comment=c de"}));
    EXPECT_EQ(words_of("#SBATCH -J a\\ b\\\"c \"x\\\"y\" \"x\\\\y\" 'x\\y'\n"),
              (Words{"-J", "a", "b\"c", "x\"y", "x\\y", "xy"}));
    EXPECT_EQ(words_of("#SBATCH -J \"a\"b\"c d\"e'f \"'g\n"), (Words{"-J", "abc def \"g"}));
    EXPECT_EQ(words_of("#SBATCH -J \"\\\"a\" -c\n"), (Words{"-J", "\"a", "-c"}));
    EXPECT_EQ(words_of("#SBATCH -J a\\\\\\nb -n3\n"), (Words{"-J", "a\\nb", "-n3"}));
    EXPECT_EQ(words_of("#SBATCH -J end\\\n#SBATCH -n 4\n"), (Words{"-J", "end", "-n", "4"}));
}

TEST(Directives, AHashEndsALineUnlessItIsKept) {
    EXPECT_EQ(words_of("#SBATCH -n 4 # comment\n"), (Words{"-n", "4"}));
    EXPECT_EQ(words_of("#SBATCH -J a#b\n#SBATCH -J \"a # b\"\n#SBATCH #-n4\n"),
              (Words{"-J", "a", "-J", "a # b"}));
    EXPECT_EQ(words_of("#SBATCH -J \\#a\\#b -n3\n"), (Words{"-J", "#a#b", "-n3"}));
}

TEST(Directives, AnEmptyWordEndsALine) {
    EXPECT_EQ(words_of("#SBATCH -J \"\"\n#SBATCH -J '' -n4\n#SBATCH --comment= -n4"),
              (Words{"-J", "-J", "--comment=", "-n4"}));
    EXPECT_EQ(words_of("#SBATCH -J \\ -n3\n#SBATCH x"), (Words{"-J", "x"}));
    EXPECT_EQ(words_of("#SBATCH \"\" -n3\n#SBATCH -n4\n"), (Words{"-n4"}));
}

TEST(Directives, ComplaintsAreSbatchsOwn) {
    EXPECT_EQ(complaint_about("#SBATCH -J \"unclosed\n"),
              "sbatch: fatal: s.sh: line 2: Unmatched `\"` in [ \"unclosed]\n");
    EXPECT_EQ(complaint_about("#SBATCH -J 'unclosed\n"),
              "sbatch: fatal: s.sh: line 2: Unmatched `'` in [ 'unclosed]\n");
    EXPECT_EQ(complaint_about("#SBATCH   \"x\n"), "sbatch: fatal: s.sh: line 2: Unmatched `\"` in [\"x]\n");
    EXPECT_EQ(complaint_about("#SBATCH -J \"a\\\n#SBATCH b\"\n"),
              "sbatch: fatal: s.sh: line 2: Unmatched `\"` in [ \"a\\]\n");
    EXPECT_EQ(complaint_about("#SBATCH : x\n"), "sbatch: fatal: s.sh: line 2: Unexpected `:` in [: x]\n");
    EXPECT_EQ(complaint_about("#SBATCH -n4 :x\n"), "sbatch: fatal: s.sh: line 2: Unexpected `:` in [ :x]\n");
    EXPECT_EQ(words_of("#SBATCH -J x:y\n"), (Words{"-J", "x:y"}));
    const std::pair<const char*, std::string> names[] = {{"", "stdin"}, {"/a/b.sh", "b.sh"}, {"./c", "c"}};
    for (const auto& [name, shown] : names) {
        const auto result = directives_of("#SBATCH :", name);
        EXPECT_EQ(std::get<UsageError>(result).text,
                  "sbatch: fatal: " + shown + ": line 1: Unexpected `:` in [:]\n");
    }
}

TEST(Directives, ComponentsOfHeterogeneousJobsAreRefused) {
    for (const char* line : {"hetjob", " hetjob", " packjob", " HETJOB", " -n4 hetjob", " hetjob -n4",
                             " -J hetjob", " -n1 hetjob\tc"})
        EXPECT_EQ(denial_of("#SBATCH" + std::string(line) + "\n#SBATCH -n 5\n"), "slurm-heterogeneous")
            << line;
    EXPECT_EQ(words_of("#SBATCH -J \"hetjob\"\n#SBATCH --comment=xhetjoby\n"),
              (Words{"-J", "hetjob", "--comment=xhetjoby"}));
    EXPECT_EQ(words_of("#SBATCH -n1 hetjob#c\n"), (Words{"-n1", "hetjob"}));
    EXPECT_EQ(words_of("#SBATCH hetjob-x xhetjob\n"), (Words{"hetjob-x", "xhetjob"}));
}

Parse parsed(const std::string& lines) {
    return parse_directives(*find_command("sbatch"), {words_of(lines), ""});
}

TEST(Directives, AreParsedAsOneCommandLineWithoutWords) {
    const Parse result = parsed("#SBATCH -n\n#SBATCH 4 --help\n#SBATCH --version -J x\n");
    const auto& options = std::get<Parsed>(result);
    EXPECT_EQ(options.value_of("ntasks"), "4");
    EXPECT_EQ(options.value_of("job-name"), "x");
    EXPECT_EQ(options.options.size(), 2u);
    EXPECT_FALSE(options.informs);

    for (const auto& [lines, word] : {std::pair{"#SBATCH -n3 foo\n", "foo"},
                                      {"#SBATCH -n3 -- -n4\n", "-n4"},
                                      {"#SBATCH -n3 -\n#SBATCH -n5\n", "-"}}) {
        const Parse wrong = parsed(lines);
        EXPECT_EQ(std::get<UsageError>(wrong).text,
                  "sbatch: error: Invalid directive found in batch script: " + std::string(word) + "\n");
        EXPECT_EQ(std::get<UsageError>(wrong).exit_code, 255);
    }
    EXPECT_EQ(std::get<Denial>(parsed("#SBATCH --uid=0\n")).code, "slurm-identity");
    EXPECT_EQ(std::get<UsageError>(parsed("#SBATCH -n6 -c \n")).text,
              "sbatch: option requires an argument -- 'c'\nTry \"sbatch --help\" for more information\n");
}

TEST(Script, IsRefusedAsSbatchRefusesIt) {
    const std::string no_interpreter =
        "sbatch: error: This does not look like a batch script.  The first\n"
        "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
        "sbatch: error: For instance: #!/bin/sh\n";
    const std::string nul =
        "sbatch: error: The Slurm controller does not allow scripts that\n"
        "sbatch: error: contain a NULL character '\\0'.\n";
    const std::string dos =
        "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\n"
        "sbatch: error: instead of expected UNIX line breaks (\\n).\n";
    const std::pair<std::string, std::string> cases[] = {
        {"", "sbatch: error: Batch script is empty!\n"},
        {" \n\n", "sbatch: error: Batch script contains only whitespace!\n"},
        {"echo\n", no_interpreter},
        {"\n#!/bin/sh\n", no_interpreter},
        {"#", no_interpreter},
        {std::string("echo\0\r\n", 7), no_interpreter},
        {std::string("#!/bin/sh\n\0\r\n", 13), nul},
        {"#!/bin/sh\r\n", dos},
        {"#!/bin/sh\necho\r\n", dos},
    };
    for (const auto& [script, text] : cases) {
        const auto error = check_script(script);
        ASSERT_TRUE(error) << script;
        EXPECT_EQ(error->text, text);
        EXPECT_EQ(error->exit_code, 1);
    }
    EXPECT_FALSE(check_script("#!"));
    EXPECT_FALSE(check_script("#!/bin/sh\necho\rx\n"));
}

}  // namespace
}  // namespace slurm
