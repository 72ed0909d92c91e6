// SPDX-License-Identifier: MIT
// Properties of TLS endpoints and trust stores for any bytes.
#pragma once

#include <string>
#include <string_view>

#include "network/tls/authority.h"
#include "network/tls/endpoint.h"
#include "network/tls/trust_store.h"

namespace network::tls {

// The authority is made once: a key for each input would take most of the time.
inline ServerContext& fuzz_context() {
    static const std::unique_ptr<ServerContext> context = [] {
        constexpr std::time_t kNow = 1'800'000'000;
        auto root = SessionRoot::make(kNow);
        auto intermediate = root->issue(std::vector<std::string>{"a.example"}, kNow);
        auto made = ServerContext::make(
            *LeafIssuer::make(*intermediate), [](std::string_view name) { return name == "a.example"; },
            [] { return kNow; });
        return *std::move(made);
    }();
    return *context;
}

// The first bytes of a client. No client without keys completes a handshake, so no byte is decrypted.
inline const char* broken_for_endpoint(std::string_view input) {
    std::string states[2];
    for (size_t round : {0u, 1u}) {
        auto endpoint = Endpoint::server(fuzz_context());
        if (!endpoint) return "an endpoint can't be made";
        size_t piece = round == 0 ? input.size() : 1;
        for (size_t at = 0; at < input.size(); at += piece) endpoint->receive(input.substr(at, piece));
        std::string plain;
        if (endpoint->read(plain) > 0) return "a byte is decrypted without a handshake";
        if (endpoint->state() == Endpoint::State::open) return "a handshake is complete without keys";
        bool has_failed = endpoint->state() == Endpoint::State::failed;
        if (has_failed && (endpoint->fault().empty() || endpoint->failure() == Endpoint::Failure::none))
            return "a failure has no reason";
        if (endpoint->name() != "a.example" && endpoint->failure() == Endpoint::Failure::client_distrusts)
            return "a client without a name gets a certificate";
        states[round] = std::to_string(static_cast<int>(endpoint->state()));
        endpoint->end();
        std::string out;
        endpoint->take_output(out);
    }
    return states[0] == states[1] ? nullptr : "the state depends on the pieces";
}

inline const char* broken_for_trust_store(std::string_view pem) {
    std::vector<std::string> certificates = certificates_in_pem(pem);
    size_t size = 0;
    for (const std::string& certificate : certificates) size += certificate.size();
    if (size > pem.size()) return "certificates are longer than their text";
    std::string store = java_trust_store(certificates, 1);
    if (store.size() < 32 + size) return "a certificate is missing in the store";
    std::string both = with_root(pem, "-----BEGIN CERTIFICATE-----\nMDAw\n-----END CERTIFICATE-----\n");
    if (certificates_in_pem(both).empty() && pem.find("BEGIN") == std::string_view::npos)
        return "the root is missing in the bundle";
    (void)ClientContext::make(pem);
    return nullptr;
}

}  // namespace network::tls
