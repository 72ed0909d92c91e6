// SPDX-License-Identifier: MIT
#include "inner/confine.h"

#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace inner {

int leave_keyring(const Orders& orders) {
    if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return 0;
    // A kernel without keyrings; or a container around us that closes them, which is enough as long as our
    // own filter closes them too.
    bool is_closed_anyway = errno == ENOSYS || (errno == EPERM && !orders.system_calls.allow_keyrings);
    return is_closed_anyway ? 0 : errno;
}

// Threat: where kernel.core_pattern names a program, the kernel runs it as root of the host and feeds it the
// memory of whatever crashed. Zero does not stop that, as the limit is about files; one does, and is too
// small for a file as well. The filter keeps the jail from changing it (tests/jail/core.bats).
void forbid_core_dumps() {
    constexpr rlim_t kNeitherFileNorProgram = 1;
    struct rlimit limit = {kNeitherFileNorProgram, kNeitherFileNorProgram};
    // Where the caller's hard limit is zero it can't be raised, and the program named there decides.
    (void)!::setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace inner
