// SPDX-License-Identifier: MIT
#include "inner/privileges.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace inner {
namespace {

// Root gets no capabilities any more, neither by executing a file nor by changing the user.
constexpr unsigned long kRootIsNobody = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                        SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                        SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

struct Sets {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

    bool has_any() const {
        for (const auto& part : data) {
            if (part.effective != 0 || part.permitted != 0 || part.inheritable != 0) return true;
        }
        return false;
    }
};

// Both need a capability that most callers do not have; for them no_new_privs has the same effect.
void close_ways_back() {
    for (unsigned long number = 0; ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; ++number) {
        ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    }
    ::prctl(PR_SET_SECUREBITS, kRootIsNobody, 0, 0, 0);
}

}  // namespace

int give_up_privileges() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    close_ways_back();
    Sets none;
    if (::syscall(SYS_capset, &none.header, none.data) != 0) return errno;
    Sets left;
    if (::syscall(SYS_capget, &left.header, left.data) != 0) return errno;
    return left.has_any() ? EPERM : 0;
}

}  // namespace inner
