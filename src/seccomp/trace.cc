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
    // As in install.cc and src/doorman/install.cc.
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

}  // namespace seccomp
