// SPDX-License-Identifier: MIT
#include "slurm/options/parse.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

using Words = std::vector<std::string>;

Parse parse_line(const char* command, const Words& arguments) {
    return parse(*find_command(command), arguments);
}

Words emitted(const char* command, const Words& arguments) {
    const Parse result = parse_line(command, arguments);
    const auto* parsed = std::get_if<Parsed>(&result);
    return parsed ? emit(*parsed) : Words{"not parsed"};
}

std::string code_of(const char* command, const Words& arguments) {
    const Parse result = parse_line(command, arguments);
    const auto* denial = std::get_if<Denial>(&result);
    return denial ? denial->code : "";
}

TEST(Parse, EveryFormOfAnOptionIsWrittenInOneWay) {
    EXPECT_EQ(emitted("sbatch", {"-n4", "-c", "2", "--time", "3", "--mem=4", "--part", "p"}),
              (Words{"--ntasks=4", "--cpus-per-task=2", "--time=3", "--mem=4", "--partition=p"}));
    EXPECT_EQ(emitted("srun", {"-vvln2", "-K", "-I5", "--exclusive", "--nice=3"}),
              (Words{"--verbose", "--verbose", "--label", "--ntasks=2", "--kill-on-bad-exit", "--immediate=5",
                     "--exclusive", "--nice=3"}));
    EXPECT_EQ(emitted("sreport", {"-t", "hours", "-shours", "--sort"}),
              (Words{"-t", "hours", "-s", "hours", "--sort"}));
    EXPECT_EQ(emitted("squeue", {"--nodes=a"}), (Words{"--nodelist=a"}));
}

TEST(Parse, AnEqualsSignIsPartOfAShortOptionsValue) {
    EXPECT_EQ(emitted("sbatch", {"-n=4"}), (Words{"--ntasks==4"}));
}

TEST(Parse, AnOptionalValueIsNeverTheNextArgument) {
    const Parse result = parse_line("srun", {"-I", "5", "-n2"});
    EXPECT_EQ(emit(std::get<Parsed>(result)), (Words{"--immediate"}));
    EXPECT_EQ(std::get<Parsed>(result).words, (Words{"5", "-n2"}));
}

TEST(Parse, WordsEndTheOptionsOfCommandsThatStartJobsOnly) {
    EXPECT_EQ(std::get<Parsed>(parse_line("sbatch", {"-n4", "s.sh", "-n5"})).words, (Words{"s.sh", "-n5"}));
    EXPECT_EQ(std::get<Parsed>(parse_line("scancel", {"12", "-b", "13", "--", "-v"})).words,
              (Words{"12", "13", "-v"}));
}

TEST(Parse, HandledOptionsAreNotEmitted) {
    const Parse result = parse_line("sbatch", {"-o", "a", "--output=b", "-Jx", "-n1", "--comment", ""});
    const auto& parsed = std::get<Parsed>(result);
    EXPECT_EQ(emit(parsed), (Words{"--ntasks=1"}));
    EXPECT_EQ(parsed.value_of("output"), "b");
    EXPECT_EQ(parsed.count("output"), 2u);
    EXPECT_EQ(parsed.value_of("comment"), "");
    EXPECT_FALSE(parsed.has("error"));
}

TEST(Parse, RefusedOptionsInAnyForm) {
    for (const Words& arguments : {Words{"--uid=0"}, {"--uid", "0"}, {"--ui", "0"}, {"-n1", "--uid=0", "s"}})
        EXPECT_EQ(code_of("sbatch", arguments), "slurm-identity");
    EXPECT_EQ(code_of("sbatch", {"--cluster-constraint=x"}), "slurm-other-cluster");
    // Which cluster is this one, only the chaperon can ask; a path or a blank is never a cluster.
    EXPECT_EQ(code_of("sbatch", {"-HM", "a/b"}), "slurm-value");
    EXPECT_EQ(code_of("sbatch", {"--cluster=a b"}), "slurm-value");
    EXPECT_EQ(code_of("srun", {"--pack=1"}), "slurm-heterogeneous");
    EXPECT_EQ(code_of("srun", {"--task-p=/x"}), "slurm-outside-code");
    EXPECT_EQ(code_of("srun", {"--container-id=x"}), "slurm-outside-code");
    EXPECT_EQ(code_of("sacct", {"-f", "/etc/passwd"}), "slurm-outside-file");
    EXPECT_EQ(code_of("scontrol", {"show", "job", "-u0"}), "slurm-identity");
    EXPECT_EQ(code_of("srun", {"hostname", "--uid=0"}), "");
}

TEST(Parse, ValuesThatMatterAreJudged) {
    EXPECT_EQ(code_of("sbatch", {"-J", "../x"}), "slurm-value");
    EXPECT_EQ(code_of("sbatch", {"-J", "a\nb"}), "slurm-value");
    EXPECT_EQ(code_of("sbatch", {"-w", "./nodes"}), "slurm-outside-file");
    EXPECT_EQ(code_of("sbatch", {"-x/etc/hosts"}), "slurm-outside-file");
    EXPECT_EQ(code_of("srun", {"--mpi=../x"}), "slurm-value");
    EXPECT_EQ(code_of("srun", {"--mpi=pmix_v4"}), "");
    EXPECT_EQ(code_of("sbatch", {"-A", "a\x1b[2J"}), "slurm-value");
    EXPECT_EQ(code_of("sbatch", {"--comment=a\nb/\x1b"}), "");
    EXPECT_EQ(code_of("sbatch", {"-J", "a b%j"}), "");
}

TEST(Parse, ALoneColonBeginsAnotherComponent) {
    EXPECT_EQ(code_of("sbatch", {"-n1", ":", "-n2", "s.sh"}), "slurm-heterogeneous");
    EXPECT_EQ(code_of("sbatch", {"s.sh", ":"}), "");
    EXPECT_EQ(code_of("salloc", {":", "-n2"}), "slurm-heterogeneous");
    EXPECT_EQ(code_of("srun", {"echo", "a", ":", "b"}), "slurm-heterogeneous");
    EXPECT_EQ(code_of("srun", {"echo", "a:", ":b"}), "");
}

TEST(Parse, HelpEndsTheLine) {
    const Parse result = parse_line("sbatch", {"-n4", "-hV", "--no-such-option"});
    EXPECT_TRUE(std::get<Parsed>(result).informs);
    EXPECT_EQ(emit(std::get<Parsed>(result)), (Words{"--ntasks=4", "--help"}));
}

TEST(Parse, ComplaintsEndAsTheClientsDo) {
    const auto complaint = [](const char* command, const Words& arguments) {
        return std::get<UsageError>(parse_line(command, arguments));
    };
    EXPECT_EQ(complaint("sbatch", {"--zzz"}).text,
              "sbatch: unrecognized option '--zzz'\nTry \"sbatch --help\" for more information\n");
    EXPECT_EQ(complaint("sbatch", {"--zzz"}).exit_code, 255);
    EXPECT_EQ(complaint("sacct", {"-Y"}).text, "sacct: invalid option -- 'Y'\n");
    EXPECT_EQ(complaint("sacct", {"-Y"}).exit_code, 1);
    EXPECT_EQ(complaint("scancel", {"--n=4"}).text,
              "scancel: option '--n=4' is ambiguous; possibilities: '--name' '--nodelist'\n"
              "Try \"scancel --help\" for more information\n");
}

TEST(Parse, OptionsOfOtherReleasesNeedTheirFullName) {
    EXPECT_EQ(emitted("sbatch", {"--tres-per-task=a"}), (Words{"--tres-per-task=a"}));
    EXPECT_TRUE(std::holds_alternative<UsageError>(parse_line("sbatch", {"--tres-p=a"})));
}

TEST(Denial, IsOneLineWithACode) {
    const Denial denial = std::get<Denial>(parse_line("sbatch", {"--uid=0"}));
    EXPECT_EQ(
        text_of(denial, "sbatch"),
        "sbatch: refused [slurm-identity]: --uid: jobs run as yourself; this is policy, not a fault: do not "
        "retry or work around it, ask the user");
    EXPECT_EQ(text_of({"slurm-busy", "64 calls\n", "wait"}, "squeue"),
              "squeue: failed [slurm-busy]: 64 calls\\x0a (wait); this is a fault, not policy: try again "
              "later, and "
              "tell the user if it stays");
}

}  // namespace
}  // namespace slurm
