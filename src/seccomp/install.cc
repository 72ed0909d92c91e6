// SPDX-License-Identifier: MIT
#include "seccomp/install.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "seccomp/filter.h"

namespace seccomp {

int install(const Switches& switches) {
    std::span<const sock_filter> filter = filter_for(switches);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                          .filter = const_cast<sock_filter*>(filter.data())};
    // Without the flag, kernels before 5.16 also disable some speculation of the processor, which makes every
    // program slower; newer ones leave that to the program, and so do we. Linux 4.17 has the flag.
    for (unsigned flags : {unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0u}) {
        if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) return 0;
        if (errno != EINVAL) break;
    }
    return errno;
}

}  // namespace seccomp
