// SPDX-License-Identifier: MIT
// What a session's gateway reads and where it puts credentials in, as data: the plan makes it, the gateway
// enforces it. It holds placeholders and names of credentials, never a value.
#pragma once

#include <string>
#include <vector>

#include "network/exchange/binding.h"
#include "network/requests/rules.h"

namespace network::exchange {

// The name inside the jail at which a program reaches the host of a credential without TLS:
// "github.credential.agent-sandbox.internal".
inline constexpr std::string_view kEndpointSuffix = ".credential.agent-sandbox.internal";
inline constexpr uint16_t kEndpointPort = 80;

struct BrokerSpec {
    std::vector<Binding> bindings;
    requests::RequestSettings requests;
    // TLS to the hosts of bindings and rules is ended at the gateway. False: only the session's own names
    // lead to the hosts of credentials.
    bool intercepts = true;

    bool is_empty() const {
        return bindings.empty() && requests.allow.empty() && requests.ask.empty() && requests.block.empty() &&
               requests.git.empty();
    }
    // Without a star: names for which certificates are needed, and all below them. Each once, sorted.
    std::vector<std::string> certificate_names(const requests::RequestRules& rules) const;
};

}  // namespace network::exchange
