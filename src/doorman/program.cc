// SPDX-License-Identifier: MIT
#include "doorman/program.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <map>

namespace doorman {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name the architecture's AUDIT_ARCH here"
#endif

constexpr uint32_t kForeignAbi = 0x40000000;  // x32 calls on x86-64

using Program = std::vector<sock_filter>;

sock_filter statement(unsigned code, uint32_t value) {
    return sock_filter{static_cast<uint16_t>(code), 0, 0, value};
}

sock_filter equals(uint32_t value, size_t if_true, size_t if_false) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(if_true),
                       static_cast<uint8_t>(if_false), value};
}

sock_filter load(size_t offset) {
    return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

// Both architectures are little-endian.
sock_filter load_argument(const Test& test, bool is_upper) {
    return load(offsetof(struct seccomp_data, args) + test.argument * sizeof(uint64_t) +
                (is_upper ? sizeof(uint32_t) : 0));
}

size_t length_of(const Test& test) {
    return test.kind == Test::Kind::is_null ? 4 : 3;
}

// Falls through when the test holds; `past` instructions lie between its end and the next row.
void add_test(Program& program, const Test& test, size_t past) {
    program.push_back(load_argument(test, false));
    if (test.kind == Test::Kind::is_null) {
        program.push_back(equals(0, 0, past + 2));
        program.push_back(load_argument(test, true));
        program.push_back(equals(0, 0, past));
        return;
    }
    program.push_back(statement(BPF_ALU | BPF_AND | BPF_K, test.mask));
    bool is_equal = test.kind == Test::Kind::equal;
    program.push_back(equals(test.value, is_equal ? 0 : past, is_equal ? past : 0));
}

void add_row(Program& program, const Row& row) {
    size_t left = 1;  // the verdict
    for (const Test& test : row.tests) left += length_of(test);
    for (const Test& test : row.tests) {
        left -= length_of(test);
        add_test(program, test, left);
    }
    program.push_back(statement(BPF_RET | BPF_K, row.verdict));
}

}  // namespace

std::vector<sock_filter> compile(std::span<const Row> rows) {
    std::map<int, Program> blocks;
    for (const Row& row : rows) {
        if (row.call >= 0) add_row(blocks[row.call], row);
    }
    Program program = {load(offsetof(struct seccomp_data, arch)),
                       equals(kArchitecture, 1, 0),
                       statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                       load(offsetof(struct seccomp_data, nr)),
                       {BPF_JMP | BPF_JGE | BPF_K, 0, 1, kForeignAbi},
                       statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    for (auto& [call, block] : blocks) {
        block.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        program.push_back(equals(static_cast<uint32_t>(call), 1, 0));
        // A block may be longer than a conditional jump reaches.
        program.push_back(statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(block.size())));
        program.insert(program.end(), block.begin(), block.end());
    }
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return program;
}

}  // namespace doorman
