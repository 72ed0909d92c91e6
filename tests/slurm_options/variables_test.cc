// SPDX-License-Identifier: MIT
#include "slurm/options/directives.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

using Words = std::vector<std::string>;

Words options_of(const char* command, const Words& environment) {
    const auto result = options_from_variables(*find_command(command), environment);
    const auto* found = std::get_if<FromVariables>(&result);
    if (!found) return {std::get<Denial>(result).code};
    Words words;
    for (const ParsedOption& given : found->options) append_canonical(words, given);
    return words;
}

TEST(Variables, StandForOptions) {
    EXPECT_EQ(
        options_of("sbatch", {"SBATCH_PARTITION=p", "SLURM_PARTITION=q", "SBATCH_EXCLUSIVE=", "HOME=/x"}),
        (Words{"--exclusive", "--partition=p"}));
    EXPECT_EQ(options_of("srun", {"SLURM_NTASKS=4", "SLURM_PARTITION=q"}),
              (Words{"--ntasks=4", "--partition=q"}));
    EXPECT_EQ(options_of("squeue", {"SQUEUE_FORMAT=%i", "SQUEUE_ALL=", "SLURM_TIME_FORMAT=%F"}),
              (Words{"--all", "--format=%i"}));
    EXPECT_EQ(options_of("sbatch", {"SBATCH_WAIT4SWITCH=3", "SBATCH_REQ_SWITCH=2"}),
              (Words{"--switches=2@3"}));
}

TEST(Variables, OfFlagsAreReadAsSlurmReadsThem) {
    for (const char* value : {"", "yes", "YES", "1", "2"})
        EXPECT_EQ(options_of("sbatch", {"SBATCH_OVERCOMMIT=" + std::string(value)}), Words{"--overcommit"})
            << value;
    for (const char* value : {"no", "y", "n", "0", "true", "abc"})
        EXPECT_EQ(options_of("sbatch", {"SBATCH_OVERCOMMIT=" + std::string(value)}), Words{}) << value;
    EXPECT_EQ(options_of("scancel", {"SCANCEL_BATCH=true", "SCANCEL_FULL=false"}), Words{"--batch"});
}

TEST(Variables, OfRefusedOptionsAreRefused) {
    EXPECT_EQ(options_of("srun", {"SLURM_PROLOG=/x"}), Words{"slurm-outside-code"});
    EXPECT_EQ(options_of("sbatch", {"SBATCH_CLUSTER_CONSTRAINT=x"}), Words{"slurm-other-cluster"});
    EXPECT_EQ(options_of("srun", {"SLURM_JOB_NAME=a/b"}), Words{"slurm-value"});
    const auto result = options_from_variables(*find_command("squeue"), Words{"SQUEUE_FEDERATION=1"});
    EXPECT_EQ(std::get<Denial>(result).what,
              "SQUEUE_FEDERATION stands for --federation: other clusters do not know this jail");
}

TEST(Variables, OfPassedOptionsKeepTheirNames) {
    const auto result = options_from_variables(
        *find_command("sbatch"), Words{"SBATCH_PARTITION=p", "SBATCH_OUTPUT=o", "SLURM_EXIT_ERROR=3"});
    EXPECT_EQ(std::get<FromVariables>(result).environment,
              (Words{"SBATCH_PARTITION=p", "SLURM_EXIT_ERROR=3"}));
}

}  // namespace
}  // namespace slurm
