// SPDX-License-Identifier: MIT
#include "base/process/pidfd.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace base {

Fd open_pidfd(pid_t process) {
    auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    return Fd(descriptor < 0 ? -errno : descriptor);
}

bool send_signal(const Fd& pidfd, int signal) {
    return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

}  // namespace base
