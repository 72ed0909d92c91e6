// SPDX-License-Identifier: MIT
// The current rules for a host, as text for programs in the jail. A file in the jail has the rules as they
// were at the start. This answer includes later changes and the user's answers (approvals.h).
#pragma once

#include <string>

#include "network/gateway/context.h"

namespace network::gateway {

// A complete HTTP response. `subject` has the syntax of question_text.h and is untrusted.
std::string explanation(const GatewayContext& context, const std::string& subject, bool answers_head);

}  // namespace network::gateway
