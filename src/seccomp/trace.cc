// SPDX-License-Identifier: MIT
#include "seccomp/trace.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "seccomp/filter.h"

namespace seccomp {
namespace {

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19: once the listener has received a call, only a fatal
// signal ends the wait.
constexpr unsigned kWaitsPatiently = 1u << 5;

bool is_return(const sock_filter& instruction) {
    return instruction.code == (BPF_RET | BPF_K);
}

std::vector<int> observed_numbers(const Trace& trace) {
    std::vector<int> numbers;
    auto add = [&](std::span<const ObservedCall> calls) {
        for (const ObservedCall& call : calls) numbers.push_back(call.number);
    };
    if (trace.files) add(file_calls());
    if (trace.files || trace.commands) add(command_calls());
    std::erase(numbers, -1);
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    return numbers;
}

bool holds(uint16_t code, uint32_t left, uint32_t right) {
    switch (BPF_OP(code)) {
        case BPF_JEQ:
            return left == right;
        case BPF_JGT:
            return left > right;
        case BPF_JGE:
            return left >= right;
        default:
            return (left & right) != 0;  // BPF_JSET
    }
}

}  // namespace

bool is_told(uint32_t verdict) {
    uint32_t error = verdict & SECCOMP_RET_DATA;
    return (verdict & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && error != 0 && error != ENOSYS;
}

std::vector<sock_filter> traced_filter(const Switches& switches, const Trace& trace,
                                       std::span<const sock_filter> rest) {
    std::span<const sock_filter> ready = filter_for(switches);
    std::vector<sock_filter> program(ready.begin(), ready.end());
    for (size_t i = 0; i < program.size(); ++i) {
        if (!is_return(program[i])) continue;
        if (program[i].k == SECCOMP_RET_ALLOW)
            program[i] = statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(program.size() - i - 1));
        if (trace.system_calls && is_told(program[i].k)) program[i].k = SECCOMP_RET_USER_NOTIF;
    }
    program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (int number : observed_numbers(trace)) {
        program.push_back(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<uint32_t>(number)});
        program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    }
    program.insert(program.end(), rest.begin(), rest.end());
    if (rest.empty()) program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return program;
}

int install_traced(const Switches& switches, const Trace& trace, std::span<const sock_filter> rest) {
    std::vector<sock_filter> filter = traced_filter(switches, trace, rest);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
    // As in filter.cc and src/doorman/doorman.cc.
    for (unsigned more : {kWaitsPatiently | unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW},
                          unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0u}) {
        unsigned flags = unsigned{SECCOMP_FILTER_FLAG_NEW_LISTENER} | more;
        long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
        if (listener >= 0) ::fcntl(static_cast<int>(listener), F_SETFD, FD_CLOEXEC);
        if (listener >= 0) return static_cast<int>(listener);
        if (errno != EINVAL) break;
    }
    return -errno;
}

uint32_t verdict_of(std::span<const sock_filter> program, const struct seccomp_data& call) {
    constexpr uint32_t kUnknown = SECCOMP_RET_KILL_PROCESS;
    uint32_t accumulator = 0;
    uint32_t memory[BPF_MEMWORDS] = {};
    for (size_t i = 0; i < program.size(); ++i) {
        const sock_filter& instruction = program[i];
        switch (instruction.code) {
            case BPF_LD | BPF_W | BPF_ABS:
                if (instruction.k > sizeof call - sizeof accumulator) return kUnknown;
                std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + instruction.k,
                            sizeof accumulator);
                break;
            case BPF_ALU | BPF_AND | BPF_K:
                accumulator &= instruction.k;
                break;
            case BPF_ST:
            case BPF_LD | BPF_W | BPF_MEM:
                if (instruction.k >= std::size(memory)) return kUnknown;
                if (instruction.code == BPF_ST) {
                    memory[instruction.k] = accumulator;
                } else {
                    accumulator = memory[instruction.k];
                }
                break;
            case BPF_JMP | BPF_JA:
                i += instruction.k;
                break;
            case BPF_JMP | BPF_JEQ | BPF_K:
            case BPF_JMP | BPF_JGT | BPF_K:
            case BPF_JMP | BPF_JGE | BPF_K:
            case BPF_JMP | BPF_JSET | BPF_K:
                i += holds(instruction.code, accumulator, instruction.k) ? instruction.jt : instruction.jf;
                break;
            case BPF_RET | BPF_K:
                return instruction.k;
            default:
                return kUnknown;
        }
    }
    return kUnknown;
}

std::string_view refused_name(int number) {
    std::span<const NumberedCall> calls = numbered_calls();
    auto found = std::ranges::find(calls, number, &NumberedCall::number);
    return found == calls.end() ? std::string_view() : found->name;
}

// The calls that are observed in a traced jail: which of their arguments are paths, and how they are used.
// Calls on open descriptors are not among them, because the open itself was already observed. Nor are `exit`
// and `exit_group`: a signal can interrupt a notified call, and no program expects these two to return.

namespace {

using enum Use;

// Since Linux 5.1 new calls have the same number on every architecture.
constexpr int kFaccessat2 = 439;
constexpr int kFchmodat2 = 452;

constexpr NamedPath plain(int8_t path, Use use) {
    return {-1, path, use};
}
constexpr NamedPath below(int8_t directory, int8_t path, Use use) {
    return {directory, path, use};
}

constexpr ObservedCall kFileCalls[] = {
#ifdef SYS_open  // an architecture has all of the old calls or none
    {SYS_open, plain(0, by_flags), {}, 1},
    {SYS_creat, plain(0, put), {}},
    {SYS_stat, plain(0, look), {}},
    {SYS_lstat, plain(0, look), {}},
    {SYS_access, plain(0, by_mode), {}, 1},
    {SYS_readlink, plain(0, look), {}},
    {SYS_mkdir, plain(0, make), {}},
    {SYS_rmdir, plain(0, change), {}},
    {SYS_unlink, plain(0, change), {}},
    {SYS_rename, plain(0, change), plain(1, put)},
    {SYS_link, plain(0, look), plain(1, make)},
    {SYS_symlink, {}, plain(1, make)},
    {SYS_chmod, plain(0, change), {}},
    {SYS_chown, plain(0, change), {}},
    {SYS_lchown, plain(0, change), {}},
    {SYS_mknod, plain(0, make), {}},
    {SYS_utime, plain(0, change), {}},
    {SYS_utimes, plain(0, change), {}},
#endif
#ifdef SYS_newfstatat
    {SYS_newfstatat, below(0, 1, look), {}},
#endif
#ifdef SYS_renameat
    {SYS_renameat, below(0, 1, change), below(2, 3, put)},
#endif
    {SYS_openat, below(0, 1, by_flags), {}, 2},
    {SYS_statx, below(0, 1, look), {}},
    {SYS_statfs, plain(0, look), {}},
    {SYS_faccessat, below(0, 1, by_mode), {}, 2},
    {kFaccessat2, below(0, 1, by_mode), {}, 2},
    {SYS_readlinkat, below(0, 1, look), {}},
    {SYS_chdir, plain(0, look), {}},
    {SYS_mkdirat, below(0, 1, make), {}},
    {SYS_unlinkat, below(0, 1, change), {}},
    {SYS_renameat2, below(0, 1, change), below(2, 3, put)},
    {SYS_linkat, below(0, 1, look), below(2, 3, make)},
    {SYS_symlinkat, {}, below(1, 2, make)},
    {SYS_truncate, plain(0, change), {}},
    {SYS_fchmodat, below(0, 1, change), {}},
    {kFchmodat2, below(0, 1, change), {}},
    {SYS_fchownat, below(0, 1, change), {}},
    {SYS_mknodat, below(0, 1, make), {}},
    {SYS_utimensat, below(0, 1, change), {}},
    {SYS_setxattr, plain(0, change), {}},
    {SYS_removexattr, plain(0, change), {}},
};

constexpr ObservedCall kCommandCalls[] = {
    {SYS_execve, plain(0, read), {}},
    {SYS_execveat, below(0, 1, read), {}},
};

}  // namespace

std::span<const ObservedCall> file_calls() {
    return kFileCalls;
}

std::span<const ObservedCall> command_calls() {
    return kCommandCalls;
}

}  // namespace seccomp
