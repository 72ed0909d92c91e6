// SPDX-License-Identifier: MIT
#include "slurm/jobs/spec.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using slurm::Spec;

Spec full() {
    return Spec{.project = "/data/a project",
                .project_inode = UINT64_MAX,
                .options = {"--network=isolated", "--env=A=b c"},
                .variables = {"AGENT_SANDBOX_HOME_ACCESS=restricted"},
                .session = std::string(32, 'a'),
                .is_batch = true,
                .script = "#!/bin/sh\n#SBATCH --uid=0\necho \xff\n",
                .command = {"one", "", "two three"},
                .environment = {"X=1", "EMPTY="},
                .directory = "/data/a project/sub",
                .output = "slurm-%j.out",
                .error = "err",
                .input = "/dev/null",
                .appends = true};
}

void expect_equal(const Spec& a, const Spec& b) {
    EXPECT_EQ(slurm::encode(a), slurm::encode(b));
    EXPECT_EQ(a.project_inode, b.project_inode);
    EXPECT_EQ(a.command, b.command);
    EXPECT_EQ(a.script, b.script);
}

TEST(Spec, ComesBackFromAJobFile) {
    auto file = slurm::job_file("/opt/bin/agent-sandbox", full());
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->starts_with("#!/opt/bin/agent-sandbox slurm-entry\n"));
    auto spec = slurm::spec_from_job_file(*file);
    ASSERT_TRUE(spec);
    expect_equal(*spec, full());
}

// Threat: sbatch reads a line of the agent's script as a directive.
TEST(Spec, NoTextOfTheAgentStandsInAJobFile) {
    auto file = slurm::job_file("/p", full());
    EXPECT_EQ(file->find("#SBATCH"), std::string::npos);
    EXPECT_EQ(std::ranges::count(*file, '#'), 1) << "that of the first line";
}

TEST(Spec, LinesForSlurmAreLinesForSlurm) {
    auto file = slurm::job_file("/p", full(), "#SBATCH --job-name=x\n");
    EXPECT_TRUE(file->starts_with("#!/p slurm-entry\n#SBATCH --job-name=x\n"));
    auto spec = slurm::spec_from_job_file(*file);
    ASSERT_TRUE(spec);
    expect_equal(*spec, full());
}

TEST(Spec, AProgramThatTheKernelCouldNotRunIsAnError) {
    EXPECT_FALSE(slurm::job_file("/with blank/agent-sandbox", full()));
    EXPECT_FALSE(slurm::job_file("relative", full()));
    EXPECT_FALSE(slurm::job_file("/" + std::string(250, 'x'), full()));
    EXPECT_TRUE(slurm::job_file("/" + std::string(200, 'x'), full()));
}

TEST(Spec, MoreThanSlurmTakesIsAnErrorWithBothNumbers) {
    Spec spec = full();
    spec.script = std::string(3u << 20, 'x');
    auto file = slurm::job_file("/p", spec);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().what.find("4096"), std::string::npos);
    spec.script.resize(2u << 20);
    EXPECT_TRUE(slurm::job_file("/p", spec));
}

TEST(Spec, ComesBackFromVariables) {
    Spec spec = full();
    spec.environment.push_back("LONG=" + std::string(300'000, 'y'));
    auto variables = slurm::step_variables(spec);
    ASSERT_TRUE(variables);
    EXPECT_GT(variables->size(), 1u);
    for (const std::string& variable : *variables) EXPECT_LT(variable.size(), 128u << 10);
    variables->push_back("OTHER=1");
    auto taken = slurm::take_step_variables(*variables);
    ASSERT_TRUE(taken && *taken);
    expect_equal(**taken, spec);
    EXPECT_EQ(*variables, std::vector<std::string>{"OTHER=1"});
}

TEST(Spec, NoVariablesAreNoStep) {
    std::vector<std::string> environment = {"HOME=/h"};
    auto taken = slurm::take_step_variables(environment);
    ASSERT_TRUE(taken);
    EXPECT_FALSE(taken->has_value());
}

TEST(Spec, EveryDamageIsNoticed) {
    std::string text = slurm::encode(full());
    for (size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(slurm::decode_spec(std::string_view(text).substr(0, length))) << length;
    EXPECT_FALSE(slurm::decode_spec(text + "x"));
    EXPECT_FALSE(slurm::spec_from_job_file("#!/p slurm-entry\n!!!!\n"));
    EXPECT_FALSE(slurm::spec_from_job_file("no script"));
}

}  // namespace
