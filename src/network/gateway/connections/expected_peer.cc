// SPDX-License-Identifier: MIT
#include "network/gateway/connections/expected_peer.h"

#include <algorithm>

#include "base/format.h"
#include "rules/text/verdict_words.h"

namespace network::gateway {
namespace {

std::string host_text(const Host& host) {
    const auto* name = std::get_if<HostName>(&host);
    return name != nullptr ? name->str() : std::get<Address>(host).str();
}

std::optional<Objection> judge_host(const Expectation& expected, const Host& said, std::string_view where) {
    if (said == expected.host) return std::nullopt;
    bool is_named = std::holds_alternative<HostName>(expected.host) && !expected.takes_other_names;
    if (is_named || std::holds_alternative<Address>(said)) {
        return Objection{
            .reason = base::format("{} says {}, the connection was opened to {}", where,
                                   in_quotes(host_text(said)), in_quotes(host_text(expected.host))),
            .alert = wire::TlsAlert::unrecognized_name};
    }
    // The address is allowed. The name that the client sends is judged like any other.
    Verdict verdict = expected.engine.decide({said, expected.port, Transport::tcp});
    if (verdict.is_allowed()) {
        const auto& name = std::get<HostName>(said);
        std::vector<HostName>* opened = expected.opened_names;
        bool is_new = opened != nullptr && std::ranges::find(*opened, name) == opened->end();
        if (is_new) opened->push_back(name);
        return std::nullopt;
    }
    Objection objection{.cause = to_text(verdict.cause), .alert = wire::TlsAlert::unrecognized_name};
    objection.reason = base::format("{} says {}: {}", where, in_quotes(host_text(said)), verdict.reason);
    objection.verdict = std::move(verdict);
    return objection;
}

}  // namespace

std::optional<Objection> judge_server_name(const Expectation& expected, const wire::ClientHello& hello,
                                           Hello where) {
    bool is_named = std::holds_alternative<HostName>(expected.host);
    if (!hello.server_name) {
        bool may_lack = where == Hello::within_other_protocol || expected.is_open_by_address;
        if (!is_named || may_lack) return std::nullopt;
        return Objection{
            .reason = "TLS without a server name (SNI), which could be for any host behind the address",
            .alert = wire::TlsAlert::unrecognized_name};
    }
    base::Result<HostName> name = HostName::parse(*hello.server_name);
    if (!name) {
        // Some clients send an address there. It must be the connection's own.
        base::Result<Address> address = Address::parse(*hello.server_name);
        if (address) return judge_host(expected, *address, "the TLS server name (SNI)");
        return Objection{.reason = "the TLS server name (SNI) is not a host name: " + name.error().what,
                         .alert = wire::TlsAlert::unrecognized_name};
    }
    return judge_host(expected, *name, "the TLS server name (SNI)");
}

std::optional<Objection> judge_authority(const Expectation& expected, const wire::Authority& said) {
    base::Result<Host> host = parse_host(said.host);
    if (!host) {
        return Objection{.reason = "the HTTP host can't be understood: " + host.error().what,
                         .http_status = 400};
    }
    if (said.port && *said.port != expected.port) {
        return Objection{.reason =
                             base::format("the HTTP host says port {}, the connection was opened to port {}",
                                          *said.port, expected.port)};
    }
    return judge_host(expected, *host, "the HTTP host");
}

Verdict judge_unknown_protocol(const Expectation& expected) {
    const Address* address = expected.address ? &*expected.address : nullptr;
    Verdict verdict = expected.engine.decide_raw(expected.host, expected.port, address);
    bool is_by_port = verdict.cause == Cause::protocol;
    if (is_by_port && expected.is_open_by_address) verdict.decision = Decision::allow;
    return verdict;
}

Objection object_to_bytes(const Expectation& expected, std::string_view what) {
    Verdict verdict = judge_unknown_protocol(expected);
    bool is_by_rule = !verdict.is_allowed() && verdict.cause == Cause::rule;
    if (!is_by_rule) verdict = raw_refusal(expected.host, expected.port, verdict.reason);
    Objection objection{.reason = std::string(what), .http_status = 400};
    if (is_by_rule) objection.reason += base::format(": {} ({})", verdict.reason, verdict.rule);
    if (!verdict.advice.empty()) objection.reason += "; " + verdict.advice;
    objection.verdict = std::move(verdict);
    return objection;
}

}  // namespace network::gateway
