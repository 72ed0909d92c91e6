// SPDX-License-Identifier: MIT
#include "seccomp/allow_list.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "seccomp/filter.h"

namespace seccomp {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name the architecture's AUDIT_ARCH here"
#endif

constexpr uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kForeignAbi = 0x40000000;  // x32 calls on x86-64

sock_filter jump(unsigned code, uint32_t value, size_t if_true, size_t if_false) {
    return sock_filter{static_cast<uint16_t>(code), static_cast<uint8_t>(if_true),
                       static_cast<uint8_t>(if_false), value};
}

sock_filter load(size_t offset) {
    return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

// The lower half: the listed values are flags and families, which the kernel reads as 32 bits.
size_t argument_offset(int argument) {
    return offsetof(struct seccomp_data, args) + static_cast<size_t>(argument) * sizeof(uint64_t);
}

// Expects the call number in the accumulator, and leaves it there if the call is another one.
void add_call(std::vector<sock_filter>& program, const Allowed& call) {
    if (call.argument < 0) {
        program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call.number), 0, 1));
        program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        return;
    }
    size_t length = call.values.size() + 3;  // load, a test per value, two verdicts
    program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call.number), 0, length));
    program.push_back(load(argument_offset(call.argument)));
    unsigned test = call.is_mask ? BPF_JMP | BPF_JSET | BPF_K : BPF_JMP | BPF_JEQ | BPF_K;
    for (size_t i = 0; i < call.values.size(); ++i) {
        size_t to_end = call.values.size() - 1 - i;
        program.push_back(jump(test, call.values[i], to_end + 1, 0));
    }
    program.push_back(statement(BPF_RET | BPF_K, call.is_mask ? SECCOMP_RET_ALLOW : kRefused));
    program.push_back(statement(BPF_RET | BPF_K, call.is_mask ? kRefused : SECCOMP_RET_ALLOW));
}

}  // namespace

std::vector<sock_filter> compile_allow_list(std::span<const Allowed> allowed, Otherwise otherwise) {
    std::vector<sock_filter> program;
    program.push_back(load(offsetof(struct seccomp_data, arch)));
    program.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    program.push_back(load(offsetof(struct seccomp_data, nr)));
    program.push_back(jump(BPF_JMP | BPF_JGE | BPF_K, kForeignAbi, 0, 1));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    for (const Allowed& call : allowed) {
        if (call.number >= 0) add_call(program, call);
    }
    program.push_back(
        statement(BPF_RET | BPF_K, otherwise == Otherwise::allowed ? SECCOMP_RET_ALLOW : kRefused));
    return program;
}

int install_allow_list(std::span<const Allowed> allowed, Otherwise otherwise) {
    std::vector<sock_filter> filter = compile_allow_list(allowed, otherwise);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

int forbid_execution_by_name() {
    constexpr int kFlagsOfExecveat = 4;
    const Allowed calls[] = {
        {.number = SYS_execveat, .argument = kFlagsOfExecveat, .values = {AT_EMPTY_PATH}},
        {.number = SYS_execve, .argument = 0, .values = {}},
    };
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return install_allow_list(calls, Otherwise::allowed);
}

}  // namespace seccomp
