// SPDX-License-Identifier: MIT
// Mailers and the stub that stands in their place. What closes mail is the gateway, which lets no mail port
// through; the stub makes a program report the policy instead of a network fault that it would try again.
#pragma once

#include <string_view>

namespace plan {

// A name of share/network/mailers.list, or one with something behind a dot or a version: "mail.mailutils",
// "exim-4.96-1".
bool is_mailer_name(std::string_view base_name);

}  // namespace plan
