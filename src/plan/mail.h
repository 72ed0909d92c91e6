// SPDX-License-Identifier: MIT
// Mailers and the stub that stands in their place. What closes mail is the gateway, which lets no mail port
// through; the stub makes a program report the policy instead of a network fault that it would try again.
#pragma once

#include <string_view>

namespace plan {

// A name of share/network/mailers.list, or one with something behind a dot or a version: "mail.mailutils",
// "exim-4.96-1".
bool is_mailer_name(std::string_view base_name);

// Where the jail has a link for every name of the list; first in its PATH.
inline constexpr std::string_view kOwnProgram = "/run/agent-sandbox/agent-sandbox";
// First in PATH: names under which the program is called inside.
inline constexpr std::string_view kStubDirectory = "/run/agent-sandbox/stubs";

}  // namespace plan
