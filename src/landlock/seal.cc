// SPDX-License-Identifier: MIT
#include "landlock/seal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "landlock/rights.h"
#include "landlock/wall.h"

namespace landlock {

int give_up_files() {
    int abi = kernel_abi();
    if (abi == 0) return ENOSYS;
    // A ruleset without rules: the rights are handled and granted nowhere.
    RulesetAttributes attributes{.files = guarded_rights(abi) | rights_to_read(),
                                 .network = abi >= 4 ? kListenTcp : 0,
                                 .scoped = guarded_scopes(abi)};
    base::Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_for(abi), 0)));
    if (!ruleset) return errno;
    return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

}  // namespace landlock
