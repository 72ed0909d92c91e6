// SPDX-License-Identifier: MIT
// The credentials of a session as the gateway sees them, without their values: the hosts, fields and paths
// that each is bound to, and its placeholder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "network/exchange/put.h"
#include "network/exchange/sigv4.h"
#include "network/requests/rule.h"

namespace network::exchange {

// "HOST/PATH" or "/PATH" of every host.
struct BoundPath {
    std::optional<requests::HostPattern> host;
    requests::PathPattern path;
    std::string text;  // as it was written
};
base::Result<BoundPath> parse_bound_path(std::string_view text);

// "POST HOST/PATH FIELD": a request whose answer has a new value of the credential, in this field.
struct Issuer {
    requests::RequestRule request;
    std::string field;
};
base::Result<Issuer> parse_issuer(std::string_view text);

struct Binding {
    std::string name;
    std::vector<requests::HostPattern> hosts;
    std::vector<Put> puts;
    bool adds_always = false;           // also where the client sent nothing
    std::vector<BoundPath> paths;       // empty: every path
    std::vector<std::string> methods;   // empty: every method
    std::string placeholder;            // of sigv4: the ID and the secret key, with a blank between
    std::vector<SignatureScope> scope;  // of sigv4; empty: every region and service
    // A JSON Web Token: the claims of its placeholder follow those of the value. The signature stays, and the
    // placeholder is found by it.
    bool has_claims = false;
    std::vector<Issuer> issues;
    std::string group;  // the tokens of one log-in have the same

    // What the finder looks for.
    std::string_view mark() const;
    // The placeholder as it stands in this text. A text without it gives the placeholder of the start.
    std::string_view placeholder_in(std::string_view text) const;
    // The placeholder for a new value.
    std::string placeholder_for(std::string_view value) const;

    bool signs() const { return !puts.empty() && puts.front().kind == Put::Kind::sigv4; }
    bool is_for(std::string_view host, uint16_t port) const;
    bool permits(std::string_view host, uint16_t port, std::string_view method,
                 const requests::CanonicalPath& path) const;
};

// The two ends of a connection, by name.
struct Place {
    std::string host;  // the server, in normal form
    uint16_t port = 443;
    bool is_encrypted = true;    // toward the server, whose certificate was verified
    bool is_intercepted = true;  // the client's side is encrypted
    // What Host must name: the server, or the session's own name for it.
    std::string expected_host;
    uint16_t expected_port = 443;
};

}  // namespace network::exchange
