// SPDX-License-Identifier: MIT
#include "rules/engine.h"

#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "rules/built_in_rules.h"
#include "rules/rules_text.h"

namespace network {
namespace {

using base::Error;
using base::Result;
using policy::NetworkMode;

base::Status add_shipped(std::vector<Rule>& rules) {
    for (const config::DataRow& row : config::data_list("network/blocked_names")) {
        Result<Rule> rule = parse_rule(row.entry, Side::block);
        if (!rule) return rule.error();
        rule->reason = row.reason;
        rules.push_back(std::move(*rule));
    }
    return base::success();
}

ConnectionAttempt attempt_of(const Question& question) {
    return ConnectionAttempt{.name = std::get_if<HostName>(&question.host),
                             .address = std::get_if<Address>(&question.host),
                             .port = question.port,
                             .transport = question.transport};
}

}  // namespace

Result<Host> parse_host(std::string_view text) {
    if (text.size() > 2 && text.starts_with('[') && text.ends_with(']')) {
        Result<Address> address = Address::parse(text.substr(1, text.size() - 2));
        if (!address) return address.error();
        if (text.find(':') == std::string_view::npos)
            return Error{.what = in_quotes(text) + ": brackets are for IPv6"};
        return Host(*address);
    }
    if (Result<Address> address = Address::parse(text)) return Host(*address);
    Result<HostName> name = HostName::parse(text);
    if (!name) return name.error();
    return Host(std::move(*name));
}

Result<Engine> Engine::make(const EngineSettings& settings) {
    Engine engine;
    engine.mode_ = settings.mode;
    engine.mode_origin_ = settings.mode_origin;
    engine.are_literals_open_ = settings.are_literals_open;
    engine.literals_origin_ = settings.literals_origin;
    engine.is_asking_ = settings.is_asking;
    engine.is_observing_ = settings.is_observing;
    Result<std::vector<Prefix>> networks = parse_private_networks(settings.private_networks);
    if (!networks) return networks.error();
    engine.private_networks_ = std::move(*networks);
    for (const config::Item& item : settings.private_networks) engine.private_origins_.push_back(item.origin);
    Result<std::vector<HostService>> services = parse_host_services(settings.host_services);
    if (!services) return services.error();
    engine.services_ = std::move(*services);

    std::vector<Rule> admin, others, lifted_ports;
    if (settings.has_shipped_list) {
        if (base::Status added = add_shipped(others); !added) return added.error();
    }
    auto add = [&](Rule rule) {
        bool is_admins = rule.origin.layer == config::Layer::admin;
        if (is_admins && rule.side == Side::allow && rule.names_ports()) lifted_ports.push_back(rule);
        (is_admins ? admin : others).push_back(std::move(rule));
    };
    for (const config::Item& item : settings.block) {
        Result<std::vector<Rule>> rules = rules_of(item, Side::block, settings.bundles);
        if (!rules) return rules.error();
        for (Rule& rule : *rules) add(std::move(rule));
    }
    Result<std::vector<Rule>> opening = opening_rules(settings);
    if (!opening) return opening.error();
    for (Rule& rule : *opening) {
        engine.warn_of_no_effect(rule);
        add(std::move(rule));
    }
    engine.admin_ = RuleTable(std::move(admin));
    engine.others_ = RuleTable(std::move(others));
    engine.lifted_ports_ = RuleTable(std::move(lifted_ports));
    return engine;
}

void Engine::warn_of_no_effect(const Rule& rule) {
    std::string entry =
        base::format("{}: the entry {} has no effect: ", rule.origin.describe(), in_quotes(name_of(rule)));
    auto is_this = [&](const HostService& service) {
        return !service.address && service.port == rule.ports.first && rule.ports.is_single();
    };
    bool is_of_host = rule.target == Target::host && rule.name == kHostServiceName;
    if (is_of_host && std::ranges::none_of(services_, is_this))
        warnings_.push_back(entry + "services of this host are opened by network.host_services");
    bool is_closed_port = rule.ports.is_single() && !reason_for_closed_port(rule.ports.first).empty();
    if (is_closed_port && rule.origin.layer != config::Layer::admin) {
        warnings_.push_back(base::format("{}port {} is closed ({}), and {}", entry, rule.ports.first,
                                         reason_for_closed_port(rule.ports.first), kAskAdministrator));
    }
    if (rule.target != Target::network) return;
    // If one row of the floor contains the whole network, the network is closed.
    bool is_service =
        rule.ports.is_single() && this->is_service(rule.prefix.address(), rule.ports.first, Transport::tcp);
    if (is_service) return;
    std::optional<ClosedAddress> closed = find_closed(rule.prefix.address(), private_networks_);
    Result<Prefix> row = closed ? Prefix::parse(closed->row) : Result<Prefix>(Error{});
    if (!row || !row->contains(rule.prefix)) return;
    warnings_.push_back(entry + closed->reason + (closed->can_be_opened ? "; network.private opens it" : ""));
}

std::optional<Verdict> Engine::closed_port(const ConnectionAttempt& attempt) const {
    std::string_view reason = attempt.port == 0 ? "there is no port 0" : reason_for_closed_port(attempt.port);
    ConnectionAttempt about_port = attempt;
    about_port.only_networks_allow = false;
    if (reason.empty() || lifted_ports_.find(about_port)) return std::nullopt;
    return Verdict{.cause = Cause::port_floor,
                   .rule = "port " + std::to_string(attempt.port),
                   .reason = std::string(reason),
                   .advice = attempt.port == 0 ? "" : advice_for_port(attempt)};
}

bool Engine::is_service(const Address& address, uint16_t port, Transport transport) const {
    return transport == Transport::tcp && std::ranges::any_of(services_, [&](const HostService& service) {
               return service.address == address && service.port == port;
           });
}

// The host's name inside the jail reaches only services that the user named, even if a wider rule allows
// more.
std::optional<Verdict> Engine::closed_host_port(const ConnectionAttempt& attempt) const {
    if (!attempt.name || attempt.name->str() != kHostServiceName) return std::nullopt;
    bool is_open = attempt.transport == Transport::tcp &&
                   std::ranges::any_of(services_, [&](const HostService& service) {
                       return !service.address && service.port == attempt.port;
                   });
    if (is_open) return std::nullopt;
    bool can_be_opened = attempt.transport == Transport::tcp && reason_for_closed_port(attempt.port).empty();
    return Verdict{.cause = Cause::address_floor,
                   .rule = std::string(kHostServiceName),
                   .reason = "services of this host are closed but for those that are named",
                   .advice = can_be_opened
                                 ? "if it is needed, open it with --host-port " + std::to_string(attempt.port)
                                 : "",
                   .change = can_be_opened ? "--host-port " + std::to_string(attempt.port) : ""};
}

std::optional<Verdict> Engine::closed_address(const Address& address, uint16_t port,
                                              Transport transport) const {
    if (is_service(address, port, transport)) return std::nullopt;
    std::optional<ClosedAddress> closed = find_closed(address, private_networks_);
    if (!closed) return std::nullopt;
    std::string change;
    if (closed->can_be_opened) change = base::format("network.private = [\"{}\"]", address.str());
    return Verdict{.cause = Cause::address_floor,
                   .rule = closed->row,
                   .reason = base::format("{}: {}", address.str(), closed->reason),
                   .advice = change.empty() ? "" : "if it is needed, open it with " + change,
                   .change = change};
}

// Hosts in a network that the site declared private may have no names.
const config::Origin* Engine::opened_as_private(const ConnectionAttempt& attempt) const {
    bool can_be = mode_ == NetworkMode::filtered && attempt.transport == Transport::tcp && attempt.address;
    for (size_t i = 0; can_be && i < private_networks_.size(); ++i)
        if (private_networks_[i].contains(*attempt.address)) return &private_origins_[i];
    return nullptr;
}

Verdict Engine::default_verdict(const ConnectionAttempt& attempt) const {
    std::string advice = "if it is needed, open it with " + allow_line(entry_for(attempt));
    std::string change = change_for(attempt);
    bool is_literal = !attempt.name;
    const config::Origin* opening = is_literal ? opened_as_private(attempt) : nullptr;
    if (opening) {
        return Verdict{.decision = Decision::allow,
                       .cause = Cause::rule,
                       .origin = *opening,
                       .reason = "network.private opens it"};
    }
    if (is_literal && !are_literals_open_) {
        return Verdict{.cause = Cause::literal,
                       .origin = literals_origin_,
                       .reason =
                           "an address without a name is refused (network.literals = deny), since every rule "
                           "about names "
                           "could be walked around by it",
                       .advice = "use the host's name; " + advice,
                       .change = change};
    }
    if (attempt.transport == Transport::udp) {
        return Verdict{.cause = Cause::udp,
                       .reason = "UDP is closed where no rule opens it",
                       .advice = advice,
                       .change = change};
    }
    // The user is not asked about addresses, because a number alone does not show what it is.
    if (is_asking_ && !is_observing_ && !is_literal) {
        return Verdict{.decision = Decision::ask,
                       .cause = Cause::ask,
                       .origin = mode_origin_,
                       .reason = "network.ask = true: no rule names it, and the user has not answered",
                       .advice = "wait for the answer; " + advice,
                       .change = change};
    }
    if (mode_ == NetworkMode::filtered) {
        return Verdict{.decision = Decision::allow,
                       .origin = mode_origin_,
                       .reason = "network.mode = filtered: nothing closes it"};
    }
    return Verdict{.origin = mode_origin_,
                   .reason = "network.mode = proxied opens only what network.allow names",
                   .advice = std::move(advice),
                   .change = std::move(change)};
}

Verdict Engine::judge(const ConnectionAttempt& attempt) const {
    if (std::optional<Verdict> closed = closed_port(attempt)) return *closed;
    const Rule* admins = admin_.find(attempt);
    if (admins && admins->side == Side::block) return verdict_by(*admins, attempt);
    const Rule* decisive = others_.find(attempt);
    if (admins && (!decisive || decides_before(*admins, *decisive))) decisive = admins;
    return decisive ? verdict_by(*decisive, attempt) : default_verdict(attempt);
}

// Threat: a user setting that turns refusals into allows must not open what the administrator closed. If the
// administrator chose a mode that opens only named hosts, everything else stays closed, whatever cause a
// verdict gives. (tests/rules/engine_ask_test.cc)
Verdict Engine::observed(Verdict verdict) const {
    bool is_floor = verdict.cause == Cause::port_floor || verdict.cause == Cause::address_floor;
    bool is_admins = verdict.origin.layer == config::Layer::admin ||
                     (mode_ == NetworkMode::proxied && mode_origin_.layer == config::Layer::admin);
    bool is_lifted = is_observing_ && verdict.decision == Decision::deny && !is_floor && !is_admins;
    if (!is_lifted) return verdict;
    verdict.decision = Decision::allow;
    verdict.is_observed = true;
    return verdict;
}

Verdict Engine::decide(const Question& question) const {
    bool is_filtering = mode_ == NetworkMode::filtered || mode_ == NetworkMode::proxied;
    if (question.transport == Transport::raw) {
        Verdict by_host = decide({question.host, question.port, Transport::tcp});
        bool is_by_protocol = by_host.is_allowed() && is_filtering;
        return is_by_protocol ? decide_raw(question.host, question.port) : by_host;
    }
    Verdict verdict = decide_strictly(question);
    return is_filtering ? observed(std::move(verdict)) : verdict;
}

Verdict Engine::decide_raw(const Host& host, uint16_t port, const Address* resolved) const {
    ConnectionAttempt attempt{.name = std::get_if<HostName>(&host),
                              .address = std::get_if<Address>(&host),
                              .port = port,
                              .transport = Transport::raw};
    if (attempt.address == nullptr) attempt.address = resolved;
    const Rule* admins = admin_.find(attempt);
    const Rule* decisive = others_.find(attempt);
    bool is_admins =
        admins && (admins->side == Side::block || !decisive || decides_before(*admins, *decisive));
    if (is_admins) decisive = admins;
    if (decisive) return verdict_by(*decisive, attempt);
    std::string usual = std::holds_alternative<HostName>(host) ? usual_protocol(port) : "";
    if (usual.empty()) {
        return Verdict{.decision = Decision::allow,
                       .reason = "no name is judged in a protocol other than HTTP and TLS"};
    }
    return raw_refusal(host, port,
                       base::format("it is neither HTTP nor TLS, and port {} is usual for {}, where the name "
                                    "in each connection is judged",
                                    port, usual));
}

Verdict Engine::decide_strictly(const Question& question) const {
    switch (mode_) {
        case NetworkMode::open:
            return Verdict{.decision = Decision::allow,
                           .origin = mode_origin_,
                           .reason = "network.mode = open: nothing is filtered"};
        case NetworkMode::isolated:
            return Verdict{.origin = mode_origin_,
                           .reason = "network.mode = isolated: nothing outside can be reached",
                           .advice = "run with --network filtered or --network proxied"};
        case NetworkMode::filtered:
        case NetworkMode::proxied:
            break;
    }
    ConnectionAttempt attempt = attempt_of(question);
    if (attempt.address) {
        attempt.only_networks_allow = !are_literals_open_;
        if (std::optional<Verdict> closed = closed_address(*attempt.address, attempt.port, attempt.transport))
            return *closed;
    }
    if (std::optional<Verdict> closed = closed_host_port(attempt)) return *closed;
    return judge(attempt);
}

Verdict Engine::decide_resolved(const HostName& name, const Address& resolved, uint16_t port,
                                Transport transport) const {
    Verdict by_name = decide({name, port, transport});
    if (!by_name.is_allowed() || mode_ == NetworkMode::open) return by_name;
    // The user named its port, and the target is the host's own loopback.
    bool is_loopback = resolved == *Address::parse("127.0.0.1") || resolved == *Address::parse("::1");
    if (is_loopback && name.str() == kHostServiceName) return by_name;
    if (std::optional<Verdict> closed = closed_address(resolved, port, transport)) return *closed;
    Verdict by_both =
        observed(judge({.name = &name, .address = &resolved, .port = port, .transport = transport}));
    bool says_more = !by_both.is_allowed() || (by_both.is_observed && !by_name.is_observed);
    return says_more ? by_both : by_name;
}

// An open range may begin with ports of the floor.
Verdict Engine::first_above_floor(const HostName& name, uint32_t port, Transport transport) const {
    for (Verdict verdict; port <= 65535; ++port) {
        verdict = decide({name, static_cast<uint16_t>(port), transport});
        if (verdict.cause != Cause::port_floor) return verdict;
    }
    return {};
}

Verdict Engine::decide_lookup(const HostName& name) const {
    Verdict usual = decide({name, 443, Transport::tcp});
    if (usual.is_allowed() || mode_ == NetworkMode::isolated) return usual;
    // A range of open ports begins at the first port of a rule or after its last port.
    std::vector<uint32_t> ports = {1};
    bool may_be_open = mode_ == NetworkMode::filtered || is_asking_ || is_observing_;
    std::optional<Verdict> question;
    for (const RuleTable* table : {&admin_, &others_}) {
        for (const Rule* rule : table->about(name)) {
            may_be_open = may_be_open || rule->side == Side::allow;
            ports.push_back(rule->ports.first);
            ports.push_back(rule->ports.last + 1u);
        }
    }
    if (!may_be_open) return usual;
    std::ranges::sort(ports);
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    for (uint32_t port : ports) {
        for (Transport transport : {Transport::tcp, Transport::udp}) {
            Verdict verdict = first_above_floor(name, port, transport);
            if (verdict.is_allowed()) return verdict;
            if (verdict.decision == Decision::ask && !question) question = std::move(verdict);
        }
    }
    return usual.decision == Decision::ask ? usual : question.value_or(usual);
}

Verdict Engine::decide_address(const HostName& name, const Address& resolved) const {
    Verdict by_name = decide_lookup(name);
    if (!by_name.is_allowed() || mode_ == NetworkMode::open) return by_name;
    auto is_there = [&](const HostService& service) { return service.address == resolved; };
    if (std::ranges::any_of(services_, is_there)) return by_name;
    return closed_address(resolved, 0, Transport::tcp).value_or(by_name);
}

}  // namespace network
