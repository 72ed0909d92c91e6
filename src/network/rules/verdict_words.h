// SPDX-License-Identifier: MIT
// What a verdict says: the rule by its name, why, what to do, and the smallest change that would allow it.
#pragma once

#include <string>
#include <string_view>

#include "network/rules/engine.h"

namespace network {

inline constexpr const char* kAskAdministrator = "only the administrator can change this";

std::string name_of(const Rule& rule);
// What refuses bytes in which no name can be judged; `change` is the entry that lets them through unread.
Verdict raw_refusal(const Host& host, uint16_t port, std::string reason);
std::string allow_line(std::string_view entry);
Verdict verdict_by(const Rule& rule, const Asked& asked);

// As it is written in network.allow.
std::string entry_for(const Asked& asked);
// The same as a user would type or write it.
std::string change_for(const Asked& asked);
// A port of the floor opens where the administrator names the server with it.
std::string advice_for_port(const Asked& asked);

}  // namespace network
