// SPDX-License-Identifier: MIT
// Which calls are asked for, and which are refused by their arguments alone. A second filter beside the
// jail's own (seccomp/table.h): of two filters the kernel takes the stricter word, and refusing is stricter
// than asking.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "doorman/answered_calls.h"

namespace doorman {

// A filter program from rows, made at run time: the rows depend on the calls to answer (answered_calls.h).
// The first row whose tests all hold decides a call; a call without one is allowed. Other architectures are
// killed.

// Of one argument, as the kernel passes it: never of what it points to.
struct Test {
    enum class Kind : uint8_t {
        equal,    // (the lower 32 bits & mask) == value; the kernel takes numbers and flags as 32 bits
        differs,  // the opposite
        is_null,  // all 64 bits are zero: pointers
    };
    uint8_t argument = 0;
    Kind kind = Kind::equal;
    uint32_t mask = 0xffffffff;
    uint32_t value = 0;
};

struct Row {
    int call = -1;  // of this architecture; negative: it has no such call
    std::vector<Test> tests;
    uint32_t verdict = 0;  // SECCOMP_RET_*
};

std::vector<sock_filter> compile(std::span<const Row> rows);

std::vector<Row> rows_for(const AnsweredCalls& calls);

}  // namespace doorman
