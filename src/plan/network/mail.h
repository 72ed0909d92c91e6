// SPDX-License-Identifier: MIT
// Mailers and the stub that replaces them. The gateway blocks mail, because it allows no mail port. The stub
// makes a program report the policy instead of a network failure that it would retry.
#pragma once

#include <string_view>

namespace plan {

// A name of share/network/mailers.list, or one followed by a dot and a suffix or by a version:
// "mail.mailutils", "exim-4.96-1".
bool is_mailer_name(std::string_view base_name);

}  // namespace plan
