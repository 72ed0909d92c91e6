// SPDX-License-Identifier: MIT
// What the rules say about a host right now, as the gateway tells it to programs in the jail. The rules as
// they were at the start lie in the jail as a file; this answer knows what has changed since, and the user's
// own answers (questions.h).
#pragma once

#include <string>

#include "network/gateway/desk.h"

namespace network::gateway {

// A whole HTTP response. The subject is as in question_text.h, and untrusted.
std::string explanation(const Desk& desk, const std::string& subject, bool answers_head);

}  // namespace network::gateway
