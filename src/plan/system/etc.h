// SPDX-License-Identifier: MIT
// /etc of the jail, and its account files.
#pragma once

#include <string>
#include <string_view>

#include "host/facts.h"

namespace plan {

// The account files of the jail: the system's entries and the caller's, so that the jail can enumerate
// neither the host's users nor a site's directory.

// Accounts below this number belong to the system (Debian and Red Hat alike).
inline constexpr uint32_t kFirstUser = 1000;

std::string filter_passwd(std::string_view host_text, const host::Identity& caller);
// Leaves out all members except the caller.
std::string filter_group(std::string_view host_text, const host::Identity& caller);
std::string_view files_only_switch();

}  // namespace plan
