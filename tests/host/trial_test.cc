// SPDX-License-Identifier: MIT
#include "host/trial.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>

#include "base/temporary_directory.h"

namespace host {
namespace {

using base::Path;

TEST(BwrapVersion, IsReadFromWhatTheProgramPrints) {
    EXPECT_EQ(parse_bwrap_version("bubblewrap 0.8.0\n")->text(), "0.8.0");
    EXPECT_EQ(parse_bwrap_version("bubblewrap 0.11")->text(), "0.11.0");
    EXPECT_EQ(parse_bwrap_version("bubblewrap 1.2.3-rc1")->text(), "1.2.3");
}

TEST(BwrapVersion, AnythingElseIsAnErrorThatIsSafeToShow) {
    for (const char* output :
         {"", "bwrap 0.8.0", "bubblewrap", "bubblewrap x.y", "bubblewrap 1", "bubblewrap -1.0"}) {
        EXPECT_FALSE(parse_bwrap_version(output)) << output;
    }
    EXPECT_EQ(parse_bwrap_version("\x1b[2J").error().what, "'\\x1b[2J' is not a version of bubblewrap");
}

TEST(BwrapVersion, IsComparedByNumbers) {
    EXPECT_LT(*parse_bwrap_version("bubblewrap 0.3.9"), kOldestBwrap);
    EXPECT_GE(*parse_bwrap_version("bubblewrap 0.4.0"), kOldestBwrap);
    EXPECT_GT(*parse_bwrap_version("bubblewrap 0.11.0"), *parse_bwrap_version("bubblewrap 0.9.5"));
}

class FakeBwrap : public testing::Test {
  protected:
    TrustedProgram fake(std::string_view script) const {
        std::string path = directory_.write("bwrap", script);
        ::chmod(path.c_str(), 0755);
        return {.state = ProgramState::usable, .path = Path::known(path)};
    }
    testing_support::TemporaryDirectory directory_;
};

TEST_F(FakeBwrap, IsRunWithNothingButTheQuestion) {
    ::setenv("TRIAL_SECRET", "x", 1);
    base::Result<BwrapVersion> version = probe_bwrap_version(
        fake("#!/bin/sh\n[ \"$*\" = --version ] && [ -z \"$TRIAL_SECRET\" ] && echo bubblewrap 0.5.1\n"));
    ::unsetenv("TRIAL_SECRET");
    ASSERT_TRUE(version) << version.error().line();
    EXPECT_EQ(version->text(), "0.5.1");
}

TEST_F(FakeBwrap, FailuresAreErrors) {
    EXPECT_FALSE(probe_bwrap_version(fake("#!/bin/sh\necho bubblewrap 0.8.0; exit 3\n")));
    EXPECT_FALSE(probe_bwrap_version(fake("#!/no/such/interpreter\n")));
    TrustedProgram untrusted = fake("#!/bin/sh\necho bubblewrap 0.8.0\n");
    untrusted.state = ProgramState::untrusted;
    untrusted.problem = "not trusted";
    EXPECT_EQ(probe_bwrap_version(untrusted).error().what, "not trusted");
}

TEST(TryUserNamespace, AnswersAndLeavesThisProcessWhereItWas) {
    char before[64] = {}, after[64] = {};
    ASSERT_GT(::readlink("/proc/self/ns/user", before, sizeof before - 1), 0);
    std::optional<std::string> failure = try_user_namespace();
    ASSERT_GT(::readlink("/proc/self/ns/user", after, sizeof after - 1), 0);
    EXPECT_STREQ(before, after);
    EXPECT_TRUE(!failure || !failure->empty());
}

// Threat: a trial that stays in its namespaces, or leaves a mount behind, changes what the next backend gets.
TEST(TryNative, AnswersAndLeavesThisProcessWhereItWas) {
    std::string before[3], after[3];
    const char* names[] = {"user", "mnt", "pid_for_children"};
    auto look = [&](std::string(&links)[3]) {
        for (size_t i = 0; i < 3; ++i) {
            char link[64] = {};
            ASSERT_GT(::readlink((std::string("/proc/self/ns/") + names[i]).c_str(), link, sizeof link - 1),
                      0);
            links[i] = link;
        }
    };
    look(before);
    std::optional<std::string> failure = try_native();
    look(after);
    EXPECT_TRUE(std::ranges::equal(before, after));
    EXPECT_EQ(::access("/proc/self/status", R_OK), 0);
    EXPECT_TRUE(!failure || failure->starts_with("agent-sandbox itself can't ")) << *failure;
    EXPECT_TRUE(failure || !try_user_namespace()) << "it needs what bubblewrap needs";
}

// Runs the check in a child under a filter that refuses one call with this errno.
int with_refused(long call, int number, int (*check)()) {
    ::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(number)),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        sock_fprog program = {.len = std::size(code), .filter = code};
        bool is_filtered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
        ::_exit(is_filtered ? check() : 99);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int names_the_call() {
    Facts facts;
    facts.kernel = "5.1";
    probe_calls(facts);
    if (!facts.native_obstacle) return 0;
    return facts.native_obstacle->starts_with("kernel 5.1 has no ") &&
                   facts.native_obstacle->find("; install bubblewrap") != std::string::npos
               ? 1
               : 2;
}

TEST(ProbeCalls, AKernelOrAFilterWithoutOneIsAnObstacle) {
    EXPECT_EQ(with_refused(SYS_getitimer, ENOSYS, names_the_call), 0) << "control: this kernel has them all";
    for (long call : {SYS_open_tree, SYS_move_mount, SYS_clone3, SYS_pidfd_open})
        EXPECT_EQ(with_refused(call, ENOSYS, names_the_call), 1) << call;
    for (long call : {SYS_open_tree, SYS_clone3, SYS_pidfd_open})
        EXPECT_EQ(with_refused(call, EPERM, names_the_call), 1) << call;
}

TEST(ProbeCalls, WhatIsKnownStays) {
    Facts facts;
    facts.native_obstacle = "known";
    probe_calls(facts);
    probe_own_namespaces(MemoryTree(), facts);
    EXPECT_EQ(facts.native_obstacle, "known");
}

TEST(TryNative, AFilterThatRefusesACallIsFoundOut) {
    auto is_found = [] {
        std::optional<std::string> failure = try_native();
        return failure && failure->find("the kernel answers: Operation not permitted") != std::string::npos
                   ? 1
                   : 0;
    };
    ASSERT_FALSE(try_native()) << "control: " << *try_native();
    for (long call : {SYS_unshare, SYS_mount, SYS_open_tree, SYS_move_mount})
        EXPECT_EQ(with_refused(call, EPERM, is_found), 1) << call;
}

// The trial takes the program's word: its exit status, and the first line of its standard error.
TEST_F(FakeBwrap, AFirejailThatFailsIsAnObstacleWithItsReason) {
    Facts facts;
    facts.own_program = Path::known("/bin/true");
    facts.firejail = fake("#!/bin/sh\necho Error: cannot mount >&2; echo Peer >&2; exit 1\n");
    EXPECT_EQ(try_firejail(facts), "firejail can't build a jail here: cannot mount");
    facts.firejail = fake("#!/bin/sh\nexit 1\n");
    EXPECT_EQ(try_firejail(facts), "firejail can't build a jail here: it printed no reason");
    facts.firejail = fake("#!/bin/sh\n[ \"$7 $8\" = '/bin/true --version' ] || exit 1\n");
    EXPECT_FALSE(try_firejail(facts)) << *try_firejail(facts);
}

TEST(IsFiltered, AFilterAroundThisProcessIsFoundOut) {
    EXPECT_EQ(with_refused(SYS_getitimer, ENOSYS, [] { return is_filtered() ? 1 : 0; }), 1);
}

TEST(BackendTrials, AreOfTheFirstBackends) {
    ASSERT_EQ(backend_trials().size(), 3u);
    EXPECT_EQ(backend_trials()[2].backend, base::Backend::firejail);
    EXPECT_EQ(backend_trials()[0].backend, base::Backend::native);
    EXPECT_EQ(backend_trials()[1].backend, base::Backend::bwrap);
}

}  // namespace
}  // namespace host
