// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "slurm/client/command.h"
#include "slurm/client/streams.h"
#include "slurm/client/stub.h"

namespace slurm::client {
namespace {

TEST(StubName, IsOneOfSlurmsCommands) {
    EXPECT_EQ(stub_name("/usr/bin/squeue", "x"), "squeue");
    EXPECT_EQ(stub_name("/opt/agent-sandbox", "/usr/bin/sbatch"), "sbatch");
    EXPECT_EQ(stub_name("", "srun"), "srun");
    EXPECT_EQ(stub_name("", "sattach"), "sattach");
    EXPECT_EQ(stub_name("/usr/bin/agent-sandbox", "agent-sandbox"), std::nullopt);
    EXPECT_EQ(stub_name("", ""), std::nullopt);
    EXPECT_EQ(stub_name("/usr/bin/log", "log"), std::nullopt);
}

TEST(StubName, EveryCommandHasAStub) {
    for (const char* name :
         {"sbatch", "srun", "salloc", "squeue", "scancel", "scontrol", "sacct", "sacctmgr", "sinfo", "sstat",
          "sprio", "sshare", "sdiag", "sreport", "sattach", "sbcast", "scrontab", "scrun", "strigger"})
        EXPECT_EQ(stub_name(std::string("/usr/bin/") + name, ""), name);
}

TEST(Script, IsSoughtAsSbatchDoes) {
    using Places = std::vector<std::string>;
    EXPECT_EQ(script_places("job.sh", "/a:/b"), (Places{"job.sh", "/a/job.sh", "/b/job.sh"}));
    EXPECT_EQ(script_places("./job.sh", "/a"), Places{"./job.sh"});
    EXPECT_EQ(script_places("/x/job.sh", "/a"), Places{"/x/job.sh"});
    EXPECT_EQ(script_places("d/job.sh", "/a"), Places{"d/job.sh"});
}

TEST(Redirection, OnlyOneFileForAllTasksIsOpenedHere) {
    for (const char* plain : {"out.txt", "/tmp/x", "1a", "ALL"}) EXPECT_TRUE(is_plain_file(plain)) << plain;
    for (const char* other : {"", "all", "none", "0", "12", "out-%t", "%j.out"})
        EXPECT_FALSE(is_plain_file(other));
}

TEST(ErrorSplitter, SrunsOwnLinesAreKnownByTheirBeginning) {
    const std::string text = "srun: one\nsrunk\ntask srun: x\nsru\n\nsrun: two\nrest";
    for (size_t size : {1u, 2u, 5u, 100u}) {
        ErrorSplitter splitter;
        std::string of_tasks, of_srun;
        for (size_t at = 0; at < text.size(); at += size)
            splitter.add(std::string_view(text).substr(at, size), of_tasks, of_srun);
        splitter.finish(of_tasks);
        EXPECT_EQ(of_srun, "srun: one\nsrun: two\n");
        EXPECT_EQ(of_tasks, "srunk\ntask srun: x\nsru\n\nrest");
    }
}

TEST(ErrorSplitter, AnUnfinishedBeginningIsNotLost) {
    ErrorSplitter splitter;
    std::string of_tasks, of_srun;
    splitter.add("sru", of_tasks, of_srun);
    EXPECT_EQ(of_tasks, "");
    splitter.finish(of_tasks);
    EXPECT_EQ(of_tasks, "sru");
}

TEST(UserCommand, KeyboardAndKillEndAnAllocationInOrder) {
    EXPECT_EQ(status_of_command(W_EXITCODE(3, 0)), 3);
    EXPECT_EQ(status_of_command(W_EXITCODE(0, SIGINT)), 0);
    EXPECT_EQ(status_of_command(W_EXITCODE(0, SIGKILL)), 0);
    EXPECT_EQ(status_of_command(W_EXITCODE(0, SIGSEGV)), 1);
}

}  // namespace
}  // namespace slurm::client
