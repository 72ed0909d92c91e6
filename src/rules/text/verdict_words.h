// SPDX-License-Identifier: MIT
// The texts of a verdict: the rule's name, the reason, the advice, and the smallest change that would allow
// it.
#pragma once

#include <string>
#include <string_view>

#include "rules/engine.h"

namespace network {

inline constexpr const char* kAskAdministrator = "only the administrator can change this";

std::string name_of(const Rule& rule);
// Refuses bytes that carry no name to judge. `change` is the entry that allows them unread.
Verdict raw_refusal(const Host& host, uint16_t port, std::string reason);
std::string allow_line(std::string_view entry);
Verdict verdict_by(const Rule& rule, const ConnectionAttempt& attempt);

// The entry for network.allow.
std::string entry_for(const ConnectionAttempt& attempt);
// The same as a command-line option or a line of a settings file.
std::string change_for(const ConnectionAttempt& attempt);
// A port of the floor is open if the administrator allows the server with that port.
std::string advice_for_port(const ConnectionAttempt& attempt);

}  // namespace network
