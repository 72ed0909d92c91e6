// SPDX-License-Identifier: MIT
// Compares the filter of a traced jail with the precompiled one: no refused call passes, and only the
// requested calls are notified. Also compares the program's own interpreter with that of the tests.
#include "seccomp/trace.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <random>

#include "seccomp/filter.h"
#include "seccomp/machine.h"

namespace {

using seccomp::Switches;
using seccomp::Trace;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

std::vector<uint64_t> words_of(std::span<const sock_filter> program) {
    std::vector<uint64_t> words;
    for (const sock_filter& one : program) words.push_back(std::bit_cast<uint64_t>(one));
    return words;
}

bool is_among(std::span<const seccomp::ObservedCall> calls, int number) {
    return std::ranges::count(calls, number, &seccomp::ObservedCall::number) > 0;
}

bool is_observed(const Trace& trace, int number) {
    return (trace.files && is_among(seccomp::file_calls(), number)) ||
           ((trace.files || trace.commands) && is_among(seccomp::command_calls(), number));
}

// The answer that the traced filter must give if the precompiled one gives `verdict`.
uint32_t expected(uint32_t verdict, const Trace& trace, int number) {
    if (trace.system_calls && seccomp::is_told(verdict)) return SECCOMP_RET_USER_NOTIF;
    if (verdict == SECCOMP_RET_ALLOW && is_observed(trace, number)) return SECCOMP_RET_USER_NOTIF;
    return verdict;
}

// Every call number, with arguments at the boundaries of rows.
std::vector<seccomp_data> many_calls() {
    std::vector<seccomp_data> calls;
    std::mt19937_64 random(7);
    constexpr uint64_t kTelling[] = {0,  1,      2,     3,      10,         16,         17,        04000,
                                     02, 0x5412, 06755, 0x541c, 0x10000000, 0xffffffff, ~0ull,     0100,
                                     4,  0x80,   0644,  02000,  020000000,  0x80000000, 0x04000000};
    for (int number = -1; number < 600; ++number) {
        for (int round = 0; round < 24; ++round) {
            seccomp_data call = {.nr = number, .arch = kArchitecture, .instruction_pointer = 0, .args = {}};
            for (auto& argument : call.args) {
                argument = random() % 4 == 0 ? random() : kTelling[random() % std::size(kTelling)];
            }
            calls.push_back(call);
        }
    }
    return calls;
}

TEST(TracedFilter, DiffersFromTheReadyOneOnlyInWhatItNotifies) {
    std::vector<seccomp_data> calls = many_calls();
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
        Switches switches = Switches::from_index(index);
        std::vector<uint64_t> ready = words_of(seccomp::filter_for(switches));
        for (unsigned wanted = 1; wanted < 8; ++wanted) {
            Trace trace{(wanted & 1) != 0, (wanted & 2) != 0, (wanted & 4) != 0};
            std::vector<uint64_t> traced = words_of(seccomp::traced_filter(switches, trace));
            for (const seccomp_data& call : calls) {
                uint32_t verdict = test::Machine(ready, call).run().answer;
                ASSERT_EQ(test::Machine(traced, call).run().answer, expected(verdict, trace, call.nr))
                    << "call " << call.nr << " program " << index << " trace " << wanted;
            }
        }
    }
}

TEST(TracedFilter, IsAskedByAMachineThatAgreesWithTheKernels) {
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
        std::span<const sock_filter> program = seccomp::filter_for(Switches::from_index(index));
        std::vector<uint64_t> words = words_of(program);
        for (const seccomp_data& call : many_calls())
            ASSERT_EQ(seccomp::verdict_of(program, call), test::Machine(words, call).run().answer) << call.nr;
    }
}

TEST(TracedFilter, KillsForeignArchitectures) {
    seccomp_data call = {.nr = SYS_execve, .arch = AUDIT_ARCH_I386, .instruction_pointer = 0, .args = {}};
    std::vector<sock_filter> filter = seccomp::traced_filter({}, {true, true, true});
    EXPECT_EQ(seccomp::verdict_of(filter, call), SECCOMP_RET_KILL_PROCESS);
}

TEST(TracedFilter, LeavesProbesAndPretendedCallsAlone) {
    EXPECT_FALSE(seccomp::is_told(SECCOMP_RET_ERRNO | ENOSYS));
    EXPECT_FALSE(seccomp::is_told(SECCOMP_RET_ERRNO | 0));
    EXPECT_FALSE(seccomp::is_told(SECCOMP_RET_ALLOW));
    EXPECT_TRUE(seccomp::is_told(SECCOMP_RET_ERRNO | EPERM));
    EXPECT_TRUE(seccomp::is_told(SECCOMP_RET_ERRNO | EAFNOSUPPORT));
}

// Threat: a signal interrupts a notified exit call, the call returns, and the program crashes while it exits.
TEST(TracedFilter, NeverNotifiesTheLastCall) {
    for (unsigned wanted = 1; wanted < 8; ++wanted) {
        Trace trace{(wanted & 1) != 0, (wanted & 2) != 0, (wanted & 4) != 0};
        std::vector<sock_filter> filter = seccomp::traced_filter({}, trace);
        for (int number : {SYS_exit, SYS_exit_group}) {
            seccomp_data call = {.nr = number, .arch = kArchitecture, .instruction_pointer = 0, .args = {}};
            EXPECT_EQ(seccomp::verdict_of(filter, call), SECCOMP_RET_ALLOW) << number << " trace " << wanted;
        }
    }
}

TEST(TracedFilter, NamesWhatItRefuses) {
    EXPECT_EQ(seccomp::refused_name(SYS_mount), "mount");
    EXPECT_EQ(seccomp::refused_name(SYS_getpid), "");
}

// A process tree has one listener: in a traced jail, installing a second one fails with EBUSY.
TEST(TracedFilter, IsTheOnlyOneThatListens) {
    pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        bool is_installed = seccomp::install_traced({}, {.system_calls = true}) >= 0;
        int second = seccomp::install_traced({}, {.system_calls = true});
        ::_exit(is_installed && second == -EBUSY ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

// A filter that the interpreter does not support must never get a verdict that allows a call.
TEST(Verdict, OfAStrangeProgramIsDeath) {
    seccomp_data call = {};
    const sock_filter strange[] = {{BPF_LDX | BPF_IMM, 0, 0, 1}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    EXPECT_EQ(seccomp::verdict_of(strange, call), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(seccomp::verdict_of({}, call), SECCOMP_RET_KILL_PROCESS);
    const sock_filter beyond[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 4096}, strange[1]};
    EXPECT_EQ(seccomp::verdict_of(beyond, call), SECCOMP_RET_KILL_PROCESS);
}

}  // namespace
