// SPDX-License-Identifier: MIT
// Public keys of hosts that network.allow names, from the user's ~/.ssh/known_hosts. ssh finds them in
// /etc/ssh/ssh_known_hosts of the jail and accepts these hosts. The other names of the file, which are the
// machines that the user works on, do not appear.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rules/rule.h"

namespace plan {

struct Draft;

// The lines of `known_hosts` for hosts that one of the rules names, each with this name alone and without its
// comment. A hashed name is compared by computing its hash.
std::string permitted_host_keys(std::string_view known_hosts, std::span<const network::Rule> rules);

// When the rules are settled, and before /etc is assembled.
void add_known_hosts(Draft& draft);

}  // namespace plan
