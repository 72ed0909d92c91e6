// SPDX-License-Identifier: MIT
#include "inner/confine.h"

#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace inner {

int leave_keyring(const LaunchSpec& spec) {
    if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return 0;
    // The kernel has no keyrings, or a container around us blocks them. The second case is enough only if our
    // own filter blocks them too.
    bool is_closed_anyway = errno == ENOSYS || (errno == EPERM && !spec.system_calls.allow_keyrings);
    return is_closed_anyway ? 0 : errno;
}

// Threat: if kernel.core_pattern names a program, the kernel runs it as root of the host and gives it the
// memory of the crashed process. A limit of 0 does not prevent that, because it applies to files; a limit of
// 1 does, and is too small for a file as well. The filter keeps the jail from changing it
// (tests/jail/isolation.bats).
void forbid_core_dumps() {
    constexpr rlim_t kNeitherFileNorProgram = 1;
    struct rlimit limit = {kNeitherFileNorProgram, kNeitherFileNorProgram};
    // If the caller's hard limit is zero, it can't be raised, and the program in core_pattern decides.
    (void)!::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace inner
