// SPDX-License-Identifier: MIT
// `why syscall`: what the filter returns for a call, and which setting would change that.
#pragma once

#include <string>
#include <string_view>

#include "seccomp/table.h"

namespace seccomp {

struct FilterResult {
    bool is_allowed = true;  // false: refused whatever the arguments are
    bool is_known = true;    // false: no call of that name existed when this program was built
    std::string summary;     // "allowed", "allowed with exceptions", "refused with EPERM"
    std::string why;
    std::string_view setting;  // that lifts it, or has lifted it; empty where no setting does
};

FilterResult explain(std::string_view name, const Switches& switches);

}  // namespace seccomp
