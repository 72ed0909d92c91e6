// SPDX-License-Identifier: MIT
// The target that a connection was opened for, and whether a name that the client sends within it agrees.
// Without this check an allowed name would give access to every other name on the same server. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/client_hello.h"
#include "network/wire/http/authority.h"
#include "rules/engine.h"

namespace network::gateway {

struct Expectation {
    const Engine& engine;
    Host host;
    uint16_t port = 0;
    // A rule or a host service allows the address itself. A client that sends no name then requests nothing
    // else.
    bool is_open_by_address = false;
    // A host service: other names are judged instead of refused, because no name led there.
    bool takes_other_names = false;
    // The dialled address, if it is known.
    std::optional<Address> address = std::nullopt;
    // Records the names that rules allowed within the connection, for when the rules change.
    std::vector<HostName>* opened_names = nullptr;
};

// Why a client's bytes are not forwarded, and the error code for each protocol.
struct Objection {
    std::string_view cause = "protocol";  // of the journal's entry
    Verdict verdict;                      // of the rule that decided, if one did
    std::string reason;
    int http_status = 403;
    wire::TlsAlert alert = wire::TlsAlert::access_denied;
};

// Nothing: the name agrees. A hello within another protocol (STARTTLS) may lack a name, because many clients
// send none.
enum class Hello { first, within_other_protocol };
std::optional<Objection> judge_server_name(const Expectation& expected, const wire::ClientHello& hello,
                                           Hello where = Hello::first);
std::optional<Objection> judge_authority(const Expectation& expected, const wire::Authority& said);

// Whether a protocol that carries no name to judge may be used: by rules, by port, or because a rule allows
// the address itself.
Verdict judge_unknown_protocol(const Expectation& expected);
// `what` was sent and is refused on every port. The reason includes the entry that would allow it.
Objection object_to_bytes(const Expectation& expected, std::string_view what);

}  // namespace network::gateway
