// SPDX-License-Identifier: MIT
// For tests of TLS: a session with its authority, and two endpoints that are connected without a socket.
#pragma once

#include <gtest/gtest.h>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "network/tls/authority.h"
#include "network/tls/endpoint.h"

namespace network::tls {

struct Authority {
    std::time_t now = std::time(nullptr);
    SessionRoot root;
    Intermediate intermediate;
    LeafIssuer issuer;
};

inline Authority make_authority(const std::vector<std::string>& names, std::time_t now = std::time(nullptr)) {
    auto root = SessionRoot::make(now);
    EXPECT_TRUE(root.ok()) << (root.ok() ? "" : root.error().line());
    auto intermediate = root->issue(names, now);
    EXPECT_TRUE(intermediate.ok()) << (intermediate.ok() ? "" : intermediate.error().line());
    auto issuer = LeafIssuer::make(*intermediate);
    EXPECT_TRUE(issuer.ok()) << (issuer.ok() ? "" : issuer.error().line());
    return {now, *std::move(root), *std::move(intermediate), *std::move(issuer)};
}

struct Contexts {
    std::unique_ptr<ServerContext> server;
    std::unique_ptr<ClientContext> client;
};

// The server has certificates for every name; the client trusts the session's root.
inline Contexts make_contexts(Authority authority) {
    std::string pem = authority.root.pem();
    std::time_t now = authority.now;
    auto server = ServerContext::make(
        std::move(authority.issuer), [](std::string_view name) { return name != "closed.example"; },
        [now] { return now; });
    EXPECT_TRUE(server.ok());
    auto client = ClientContext::make(pem);
    EXPECT_TRUE(client.ok());
    return {*std::move(server), *std::move(client)};
}

// Moves bytes between the two until both are silent. `piece` cuts them.
inline void exchange_bytes(Endpoint& client, Endpoint& server, size_t piece = SIZE_MAX) {
    client.receive("");
    for (int quiet = 0; quiet < 2;) {
        std::string to_server, to_client;
        client.take_output(to_server);
        server.take_output(to_client);
        quiet = to_server.empty() && to_client.empty() ? quiet + 1 : 0;
        for (size_t at = 0; at < to_server.size(); at += piece)
            server.receive(std::string_view(to_server).substr(at, piece));
        for (size_t at = 0; at < to_client.size(); at += piece)
            client.receive(std::string_view(to_client).substr(at, piece));
        if (piece == SIZE_MAX) continue;
        quiet = to_server.empty() && to_client.empty() ? 2 : 0;
    }
}

}  // namespace network::tls
