// SPDX-License-Identifier: MIT
// What a connection was opened for, and whether a name that the client says within it agrees. Otherwise a
// name that is permitted would be the door to all others that the same server answers for. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/rules/engine.h"
#include "network/wire/authority.h"
#include "network/wire/client_hello.h"

namespace network::gateway {

struct Expectation {
    const Engine& engine;
    Host host;
    uint16_t port = 0;
    // A rule or a host service opens the address itself: a client that says no name asks for nothing else.
    bool is_open_by_address = false;
    // A host service: other names are judged instead of refused, since no name led there.
    bool takes_other_names = false;
    // That was dialled, where it is known.
    std::optional<Address> address = std::nullopt;
    // Where names that rules opened within the connection are remembered, for when the rules change.
    std::vector<HostName>* opened_names = nullptr;
};

// Why a client's words are not passed on, and how it is said in each protocol.
struct Objection {
    std::string_view cause = "protocol";  // of the journal's entry
    Verdict verdict;                      // of a rule, where one was asked
    std::string reason;
    int http_status = 403;
    wire::TlsAlert alert = wire::TlsAlert::access_denied;
};

// Nothing: it agrees. A hello within another protocol (STARTTLS) may lack a name, as many clients' do.
enum class Hello { first, within_other_protocol };
std::optional<Objection> judge_server_name(const Expectation& expected, const wire::ClientHello& hello,
                                           Hello where = Hello::first);
std::optional<Objection> judge_authority(const Expectation& expected, const wire::Authority& said);

// Whether a protocol in which no name can be judged may be spoken: by rules, by port, or because a rule opens
// the address itself.
Verdict judge_unknown_protocol(const Expectation& expected);
// `what` was sent, and is refused whatever the port: the entry that would let it through is part of the
// reason.
Objection object_to_bytes(const Expectation& expected, std::string_view what);

}  // namespace network::gateway
