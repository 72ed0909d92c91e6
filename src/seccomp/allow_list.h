// SPDX-License-Identifier: MIT
// For our own helpers: only listed calls are allowed, all others return EPERM. The jail's own filter is a
// deny list (table.h), because the calls that programs need are not known in advance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

struct sock_filter;

namespace seccomp {

struct Allowed {
    int number = -1;  // of this architecture; negative: the call does not exist there
    // The call is allowed only if this argument is one of `values`, or, with `is_mask`, has none of these
    // bits.
    int argument = -1;
    std::vector<uint32_t> values = {};
    bool is_mask = false;
};

// What happens with a call that is not listed. With `allowed`, the list only restricts arguments: a listed
// call is allowed only with its values. A call with an argument and no values is always refused.
enum class Otherwise { refused, allowed };

// Kills the process for another architecture's calls. The values of one call must fit in a BPF jump of 255
// instructions.
std::vector<sock_filter> compile_allow_list(std::span<const Allowed> allowed,
                                            Otherwise otherwise = Otherwise::refused);

// Zero or an errno. no_new_privs must be set.
int install_allow_list(std::span<const Allowed> allowed, Otherwise otherwise = Otherwise::refused);

// For third-party programs that we start outside the jail and that must not start other programs.

// From here on this process and its children can execute a file only through an open descriptor (execveat
// with AT_EMPTY_PATH), which is how we start the program itself. A program starts another one by name, and
// gets EPERM. Sets no_new_privs. Zero or an errno.
int forbid_execution_by_name();

}  // namespace seccomp
