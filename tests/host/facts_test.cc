// SPDX-License-Identifier: MIT
#include "host/facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_directory.h"

namespace host {
namespace {

using base::Path;

TEST(Probe, KnowsWhereAndAsWhomItRuns) {
    base::Result<Facts> facts = probe({"SLURM_JOB_ID=42", "SLURMD_NODENAME=n01"});
    ASSERT_TRUE(facts) << facts.error().line();
    EXPECT_EQ(facts->identity.uid, ::getuid());
    EXPECT_EQ(facts->own_program.str(), std::filesystem::read_symlink("/proc/self/exe").string());
    EXPECT_FALSE(facts->kernel.empty());
    EXPECT_FALSE(facts->machine.empty());
    EXPECT_EQ(facts->slurm_job.id, "42");
    EXPECT_EQ(facts->slurm_job.node, "n01");
}

TEST(Probe, LooksForThePinnedBwrapOnly) {
    Facts facts;
    probe_bwrap(DiskTree(), Path::known("/none/bwrap"), facts);
    EXPECT_EQ(facts.bwrap.state, ProgramState::missing);
    EXPECT_NE(facts.bwrap.problem.find("/none/bwrap"), std::string::npos) << facts.bwrap.problem;
}

TEST(WorkingDirectory, IsThePhysicalPath) {
    base::Result<Path> found = find_working_directory();
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->str(), std::filesystem::current_path().string());
}

TEST(WorkingDirectory, ARemovedOneIsAClearError) {
    testing_support::TemporaryDirectory directory;
    ::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        if (::chdir(directory.path().c_str()) != 0 || ::rmdir(directory.path().c_str()) != 0) ::_exit(2);
        base::Result<Path> found = find_working_directory();
        bool is_clear = !found && found.error().line() ==
                                      "cannot tell the current directory: it has been removed; "
                                      "change to a directory that exists and try again";
        ::_exit(is_clear ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProbeNesting, KnowsContainersAndOurOwnJail) {
    MemoryTree host;
    EXPECT_EQ(probe_nesting(host, {}), "");
    EXPECT_EQ(probe_nesting(host, {"container=podman"}), "container");
    EXPECT_EQ(probe_nesting(host, {"AGENT_SANDBOX=1"}), "") << "a variable alone is not believed";

    MemoryTree docker = *MemoryTree::parse("f /.dockerenv");
    EXPECT_EQ(probe_nesting(docker, {}), "container");
    MemoryTree podman = *MemoryTree::parse("f /run/.containerenv");
    EXPECT_EQ(probe_nesting(podman, {}), "container");

    MemoryTree jail = *MemoryTree::parse("d /run/agent-sandbox");
    EXPECT_EQ(probe_nesting(jail, {"AGENT_SANDBOX=1"}), "agent-sandbox");
    EXPECT_EQ(probe_nesting(jail, {}), "");
}

}  // namespace
}  // namespace host
