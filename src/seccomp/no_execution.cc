// SPDX-License-Identifier: MIT
#include "seccomp/no_execution.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "seccomp/allow_list.h"

namespace seccomp {

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
