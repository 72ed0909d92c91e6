// SPDX-License-Identifier: MIT
// The compiled allow list, run in the interpreter of machine.h: a call in the list, its neighbours, matching
// and other arguments, another architecture.
#include "seccomp/allow_list.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "seccomp/machine.h"

namespace {

using seccomp::Allowed;

#if defined(__x86_64__)
constexpr uint32_t kOwn = AUDIT_ARCH_X86_64, kForeign = AUDIT_ARCH_I386;
#else
constexpr uint32_t kOwn = AUDIT_ARCH_AARCH64, kForeign = AUDIT_ARCH_ARM;
#endif
constexpr uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;

struct Call {
    int number = 0;
    std::array<uint64_t, 6> arguments = {};
    uint32_t architecture = kOwn;
};

uint32_t answer_of(const std::vector<Allowed>& list, const Call& call) {
    std::vector<sock_filter> filter = seccomp::compile_allow_list(list);
    std::vector<uint64_t> program(filter.size());
    std::memcpy(program.data(), filter.data(), filter.size() * sizeof(sock_filter));
    seccomp_data data = {};
    data.nr = call.number;
    data.arch = call.architecture;
    std::ranges::copy(call.arguments, data.args);
    return test::Machine(program, data).run().answer;
}

const std::vector<Allowed> kList = {
    {.number = 10},
    {.number = 20, .argument = 0, .values = {AF_INET, AF_INET6}},
    {.number = 30, .argument = 2, .values = {4, 8}, .is_mask = true},
    {.number = -1},  // a call that this architecture does not have
    {.number = 40},
};

TEST(AllowList, OnlyListedNumbersPass) {
    for (int number : {10, 40}) EXPECT_EQ(answer_of(kList, {number}), SECCOMP_RET_ALLOW) << number;
    for (int number : {0, 9, 11, 19, 21, 39, 41, 1000})
        EXPECT_EQ(answer_of(kList, {number}), kRefused) << number;
}

TEST(AllowList, ACallThatIsMissingHereOpensNothing) {
    EXPECT_EQ(answer_of({{.number = -1}}, {0}), kRefused);
    EXPECT_EQ(answer_of({}, {0}), kRefused);
}

TEST(AllowList, AnArgumentMustBeOneOfTheValues) {
    EXPECT_EQ(answer_of(kList, {20, {AF_INET}}), SECCOMP_RET_ALLOW);
    EXPECT_EQ(answer_of(kList, {20, {AF_INET6}}), SECCOMP_RET_ALLOW);
    for (uint64_t family : {AF_UNSPEC, AF_UNIX, AF_NETLINK, AF_PACKET})
        EXPECT_EQ(answer_of(kList, {20, {family}}), kRefused) << family;
    // The kernel reads a family as 32 bits, and so does the filter.
    EXPECT_EQ(answer_of(kList, {20, {uint64_t{AF_INET} | 1ull << 32}}), SECCOMP_RET_ALLOW);
    EXPECT_EQ(answer_of(kList, {20, {uint64_t{AF_UNIX} | 1ull << 32}}), kRefused);
    // The value in another argument does not count.
    EXPECT_EQ(answer_of(kList, {20, {0, AF_INET}}), kRefused);
}

TEST(AllowList, AMaskNamesBitsThatMustNotBeSet) {
    for (uint64_t bits : {0u, 1u, 2u, 3u, 16u}) {
        EXPECT_EQ(answer_of(kList, {30, {0, 0, bits}}), SECCOMP_RET_ALLOW) << bits;
        EXPECT_EQ(answer_of(kList, {30, {0, 0, bits | 4}}), kRefused) << bits;
        EXPECT_EQ(answer_of(kList, {30, {0, 0, bits | 8}}), kRefused) << bits;
    }
    EXPECT_EQ(answer_of(kList, {30, {4, 8, 0}}), SECCOMP_RET_ALLOW);
}

TEST(AllowList, AnotherArchitectureEndsTheProcess) {
    for (int number : {10, 20, 0})
        EXPECT_EQ(answer_of(kList, {number, {}, kForeign}), SECCOMP_RET_KILL_PROCESS) << number;
}

TEST(AllowList, NumbersOfTheOtherAbiEndTheProcess) {
    constexpr int kOtherAbi = 0x40000000;
    EXPECT_EQ(answer_of(kList, {kOtherAbi | 10}), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(answer_of(kList, {-1}), SECCOMP_RET_KILL_PROCESS);
}

// As many calls as the kernel has: no jump is too far, because each jump stays within its own call.
TEST(AllowList, ALongListReachesItsEnd) {
    std::vector<Allowed> list;
    for (int number = 0; number < 450; ++number) {
        Allowed allowed{.number = number};
        if (number % 2 == 0) allowed = {.number = number, .argument = 1, .values = {7, 8, 9}};
        list.push_back(allowed);
    }
    EXPECT_LE(seccomp::compile_allow_list(list).size(), size_t{BPF_MAXINSNS});
    EXPECT_EQ(answer_of(list, {449}), SECCOMP_RET_ALLOW);
    EXPECT_EQ(answer_of(list, {448, {0, 8}}), SECCOMP_RET_ALLOW);
    EXPECT_EQ(answer_of(list, {448, {0, 6}}), kRefused);
    EXPECT_EQ(answer_of(list, {450}), kRefused);
}

// The kernel accepts the program and gives the same answers as the interpreter.
TEST(AllowList, HoldsInTheKernel) {
    pid_t child = ::fork();
    if (child == 0) {
        std::vector<Allowed> list = {{.number = SYS_getpid},
                                     {.number = SYS_exit_group},
                                     {.number = SYS_socket, .argument = 0, .values = {AF_INET}}};
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (seccomp::install_allow_list(list) != 0) ::_exit(2);
        bool holds = ::syscall(SYS_getpid) > 0;
        errno = 0;
        holds = holds && ::syscall(SYS_getppid) == -1 && errno == EPERM;
        errno = 0;
        holds = holds && ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) == -1 && errno == EPERM;
        holds = holds && ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0) >= 0;
        // Use the system call itself: a sanitizer makes calls before _exit that the filter refuses.
        ::syscall(SYS_exit_group, holds ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
