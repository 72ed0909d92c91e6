// SPDX-License-Identifier: MIT
// For helpers of ours: only what is listed, everything else is EPERM. The jail's own filter works the other
// way round (table.h), because nobody knows what programs will want.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

struct sock_filter;

namespace seccomp {

struct Allowed {
    int number = -1;  // of this architecture; negative: it has no such call
    // The call passes only when this argument is one of `values`, or, with `is_mask`, has none of these bits.
    int argument = -1;
    std::vector<uint32_t> values = {};
    bool is_mask = false;
};

// What becomes of a call that is not listed. Where it is allowed, the list is one of calls that are held to
// their values; one without any value is always refused.
enum class Otherwise { refused, allowed };

// Another architecture's calls kill the process. At most 255 instructions lie between a call and its verdict.
std::vector<sock_filter> compile_allow_list(std::span<const Allowed> allowed,
                                            Otherwise otherwise = Otherwise::refused);

// Zero or an errno. no_new_privs must be set.
int install_allow_list(std::span<const Allowed> allowed, Otherwise otherwise = Otherwise::refused);

}  // namespace seccomp
