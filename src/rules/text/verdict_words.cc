// SPDX-License-Identifier: MIT
#include "rules/text/verdict_words.h"

#include "base/format.h"
#include "base/parse.h"

namespace network {
namespace {

constexpr const char* kAdministratorsFile = "/etc/agent-sandbox/config.toml";

bool is_shipped(const Rule& rule) {
    return rule.side == Side::block && rule.origin.layer == config::Layer::builtin;
}

// An entry for the host itself decides before wider entries and before the shipped list. An entry for one
// port of the host decides before the user's own entry for all ports.
std::string change_against(const Rule& rule, const ConnectionAttempt& attempt) {
    if (rule.origin.layer == config::Layer::admin || !attempt.name || attempt.transport == Transport::udp)
        return {};
    if (attempt.transport == Transport::raw)
        return rule.target == Target::host && rule.names_ports() ? "" : allow_line(entry_for(attempt));
    if (is_shipped(rule) || rule.target != Target::host) return "--allow-host " + attempt.name->str();
    bool can_be_narrower = !rule.names_ports();
    return can_be_narrower ? allow_line(base::with_port(attempt.name->str(), attempt.port)) : "";
}

std::string advice_against(const Rule& rule) {
    if (rule.origin.layer == config::Layer::admin) return kAskAdministrator;
    if (is_shipped(rule))
        return base::format("if it is needed, open it with network.allow = [\"{}\"]", rule.text);
    return "remove the entry, or add a more specific one to network.allow";
}

}  // namespace

std::string allow_line(std::string_view entry) {
    return base::format("network.allow = [\"{}\"]", entry);
}

std::string name_of(const Rule& rule) {
    return rule.bundle.empty() ? rule.text : base::format("@{}: {}", rule.bundle, rule.text);
}

Verdict verdict_by(const Rule& rule, const ConnectionAttempt& attempt) {
    bool is_allowed = rule.side == Side::allow;
    std::string reason = rule.reason;
    if (reason.empty()) reason = is_allowed ? "network.allow opens it" : "network.block closes it";
    return Verdict{.decision = is_allowed ? Decision::allow : Decision::deny,
                   .cause = is_shipped(rule) ? Cause::shipped_list : Cause::rule,
                   .rule = name_of(rule),
                   .origin = rule.origin,
                   .reason = std::move(reason),
                   .advice = is_allowed ? std::string() : advice_against(rule),
                   .change = is_allowed ? std::string() : change_against(rule, attempt)};
}

Verdict raw_refusal(const Host& host, uint16_t port, std::string reason) {
    ConnectionAttempt attempt{.name = std::get_if<HostName>(&host),
                              .address = std::get_if<Address>(&host),
                              .port = port,
                              .transport = Transport::raw};
    std::string change = allow_line(entry_for(attempt));
    return Verdict{.cause = Cause::protocol,
                   .reason = std::move(reason),
                   .advice = base::format("if it is needed, {} lets it through unread", change),
                   .change = change};
}

std::string entry_for(const ConnectionAttempt& attempt) {
    std::string host = attempt.name ? attempt.name->str() : attempt.address->str();
    if (attempt.transport == Transport::tcp) return host;
    return base::format("{}:{}", to_text(attempt.transport), base::with_port(host, attempt.port));
}

std::string change_for(const ConnectionAttempt& attempt) {
    bool has_flag = attempt.name && attempt.transport == Transport::tcp;
    return has_flag ? "--allow-host " + attempt.name->str() : allow_line(entry_for(attempt));
}

std::string advice_for_port(const ConnectionAttempt& attempt) {
    std::string entry = entry_for(attempt);
    if (attempt.transport == Transport::tcp) entry = base::with_port(entry, attempt.port);
    return base::format("{}: {} in {}", kAskAdministrator, allow_line(entry), kAdministratorsFile);
}

std::string_view to_text(Decision decision) {
    switch (decision) {
        case Decision::allow:
            return "allow";
        case Decision::deny:
            return "deny";
        case Decision::ask:
            return "ask";
        case Decision::inject:
            return "inject";
    }
    return "";
}

std::string_view to_text(Cause cause) {
    switch (cause) {
        case Cause::mode:
            return "mode";
        case Cause::rule:
            return "rule";
        case Cause::shipped_list:
            return "shipped list";
        case Cause::port_floor:
            return "port floor";
        case Cause::address_floor:
            return "address floor";
        case Cause::literal:
            return "literal address";
        case Cause::udp:
            return "udp";
        case Cause::ask:
            return "ask";
        case Cause::protocol:
            return "protocol";
    }
    return "";
}

}  // namespace network
